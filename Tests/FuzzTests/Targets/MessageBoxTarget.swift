import BackupShares
import Crypto
import Secrets

extension FuzzTarget {
    /// The first byte says what the others are.
    static let messageBox = FuzzTarget(
        name: "message-box",
        seeds: {
            let payload = [UInt8](16...48)
            let prefix = [16] + [UInt8](repeating: 1, count: 15)
            let sealed = ForgedMessage.sealing(ForgedMessage.blocks(prefix + payload))
            return [
                [0] + sealed, [1] + prefix + payload, [1, 33] + payload, [1, 15], [1, 0xFF],
                [2] + [UInt8](repeating: 32, count: 33) + sealed, [2, 0] + sealed,
                [2] + payload + sealed,
                [3, 17, 0] + prefix + payload, [4, 0] + payload, [4, 2] + payload, [4, 255, 1],
                [4, 254] + [UInt8](repeating: 1, count: 300),
                [5] + ForgedMessage.ephemeralKey + sealed, [5] + sealed + sealed,
                [0], [1], [2], [3], [4], [5],
            ]
        },
        run: { input in
            guard let mode = input.first, let key = ForgedMessage.messageKey() else { return }
            let rest = Array(input.dropFirst())
            switch mode {
            case 0: openAny(rest, key)
            case 1: openForged(rest, key)
            case 2: openByHeader(rest, key)
            case 3: openChanged(rest, key)
            case 4: sealAndOpen(rest, key)
            default: openFromPeer(rest)
            }
        })

    private static func openAny(_ message: [UInt8], _ key: borrowing MessageKey) {
        _ = try? MessageBox.open(message, key: key)
    }

    /// An authentic message gives its payload, or is malformed by its prefix alone.
    private static func openForged(_ bytes: [UInt8], _ key: borrowing MessageKey) {
        let plaintext = ForgedMessage.blocks(Array(bytes.prefix(4_096)))
        let prefixBytes = Int(plaintext[0])
        let isInForm = 16...plaintext.count ~= prefixBytes
        do throws(ShareError) {
            let payload = try MessageBox.open(ForgedMessage.sealing(plaintext), key: key)
            promise(isInForm)
            promise(payload.withBytes { $0.elementsEqual(plaintext[prefixBytes...]) })
            plantedTrap(prefixBytes > 16 && payload.count == 0)
        } catch {
            promise(error == .malformed && !isInForm)
        }
    }

    /// The first byte says how long the header is.
    private static func openByHeader(_ bytes: [UInt8], _ key: borrowing MessageKey) {
        let count = min(Int(bytes.first ?? 0), bytes.count)
        let rest = bytes.dropFirst()
        _ = try? MessageBox.open(
            Array(rest.dropFirst(count)), header: Array(rest.prefix(count)), key: key)
    }

    /// A message with one byte changed is never opened.
    private static func openChanged(_ bytes: [UInt8], _ key: borrowing MessageKey) {
        guard bytes.count >= 2 else { return }
        var message = ForgedMessage.sealing(ForgedMessage.blocks(Array(bytes[2...].prefix(1_024))))
        message[Int(bytes[0]) % message.count] ^= max(1, bytes[1])
        guard (try? MessageBox.open(message, key: key)) == nil else {
            fatalError("a changed message was opened")
        }
    }

    /// What is sealed is opened again.
    ///
    /// The first byte says how often the others are repeated, for payloads longer than any input.
    private static func sealAndOpen(_ bytes: [UInt8], _ key: borrowing MessageKey) {
        let once = Array(bytes.dropFirst())
        let copies = Int(bytes.first ?? 0) + 1
        let payload = SecretBytes(copying: Array((0..<copies).map { _ in once }.joined()))
        let message: [UInt8]
        do throws(ShareError) {
            message = try MessageBox.seal(payload, key: key, random: KernelRandom())
        } catch {
            promise(error == .malformed && payload.count > MessageBox.messageBytesMax - 48)
            return
        }
        guard let opened = try? MessageBox.open(message, key: key) else {
            fatalError("a sealed message was not opened")
        }
        promise(opened.isEqual(to: payload))
    }

    private static func openFromPeer(_ bytes: [UInt8]) {
        let seed = SecretBytes(copying: ForgedMessage.seed)
        _ = try? MessageBox.open(
            Array(bytes.dropFirst(32)), privateKey: seed, from: Array(bytes.prefix(32)))
    }
}
