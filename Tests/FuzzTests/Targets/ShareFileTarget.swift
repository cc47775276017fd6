import BackupShares
import Crypto
import Secrets
import Wire

extension FuzzTarget {
    /// The first byte says what the others are.
    static let shareFile = FuzzTarget(
        name: "share-file",
        seeds: {
            let payload = [0x08, 0xdd, 0x90, 0x8b, 0xd7] + [UInt8](repeating: 0x61, count: 215)
            let whole = ForgedShareFile(payload: payload)
            var released = whole
            released.isReleased = true
            var plain = whole
            plain.hasNetwork = false
            var seeds: [[UInt8]] = [[3, 40, 1] + payload, [3, 250, 4], [0], [1], [2], [3]]
            for forged in [whole, released, plain] {
                seeds.append([0] + forged.bytes)
                seeds.append([1] + forged.document)
                seeds.append([2] + forged.choices + payload)
            }
            return seeds
        },
        run: { input in
            guard let mode = input.first else { return }
            let rest = Array(input.dropFirst())
            switch mode {
            case 0: readAny(rest)
            case 1: readAuthentic(rest)
            case 2: readForged(rest)
            default: readChanged(rest)
            }
        })

    /// A file that is read gives the same bytes again.
    private static func readAny(_ bytes: [UInt8]) {
        guard let share = try? ReceivedShare(bytes), case .file(let file) = share else { return }
        promise(file.bytes == bytes)
        _ = try? file.payload(privateKey: SecretBytes(copying: ForgedMessage.seed))
    }

    /// Any document, with the code that belongs to it.
    private static func readAuthentic(_ document: [UInt8]) {
        let bytes = ForgedShareFile.authenticated(document)
        guard let file = try? ShareFile(bytes) else { return }
        promise(file.bytes == bytes)
        plantedTrap(file.index != 0)
        let seed = SecretBytes(copying: ForgedMessage.seed)
        _ = try? file.payload(privateKey: seed)
        _ = try? file.releasedPayload(
            privateKey: seed, restoration: ForgedShareFile.restoration)
    }

    /// A file whose parts the bytes choose is read, and its payload is had if it is the right one.
    private static func readForged(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return }
        let forged = ForgedShareFile(choosing: bytes)
        guard let file = try? ShareFile(forged.bytes) else {
            fatalError("a file in form is not read")
        }
        let seed = SecretBytes(copying: ForgedMessage.seed)
        do throws(ShareFileError) {
            let payload = try file.payload(privateKey: seed)
            promise(forged.hasRightDigest)
            promise(payload.bytes.withBytes { $0.elementsEqual(forged.payload) })
        } catch {
            promise(error == .wrong && !forged.hasRightDigest)
        }
        let isReleased =
            (try? file.releasedPayload(
                privateKey: seed, restoration: ForgedShareFile.restoration)) != nil
        promise(isReleased == (forged.isReleased && forged.hasRightDigest))
        let again = try? file.release(
            privateKey: seed, for: ForgedShareFile.restoration,
            publicKey: ForgedMessage.recipient, random: KernelRandom())
        promise((again != nil) == (!forged.isReleased && forged.hasRightDigest))
    }

    /// A file with one byte changed is refused, when it is read or when it is opened.
    private static func readChanged(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return }
        let forged = ForgedShareFile(payload: Array(bytes[2...]))
        var changed = forged.bytes
        let place = (Int(bytes[0]) << 3 | Int(bytes[1] & 7)) % changed.count
        changed[place] ^= max(1, bytes[1])
        guard let file = try? ShareFile(changed) else { return }
        let seed = SecretBytes(copying: ForgedMessage.seed)
        guard (try? file.payload(privateKey: seed)) == nil else {
            fatalError("a changed file was opened")
        }
    }
}

/// A share file, written apart from `ShareFile`; the form is that of `docs/formats.md`.
private struct ForgedShareFile {
    static let split = [UInt8](repeating: 0x11, count: 16)
    static let restoration = [UInt8](repeating: 0x22, count: 16)

    /// 220 bytes.
    let payload: [UInt8]
    var index = 0
    var isReleased = false
    var hasNetwork = true
    var hasRightDigest = true

    /// Zeros fill a payload that is too short.
    init(payload: [UInt8]) {
        self.payload =
            payload.prefix(220) + [UInt8](repeating: 0, count: 220 - min(payload.count, 220))
    }

    /// Two bytes of choices before the payload.
    init(choosing bytes: [UInt8]) {
        self.init(payload: Array(bytes[2...]))
        index = Int(bytes[0] % 3)
        isReleased = bytes[1] & 1 != 0
        hasNetwork = bytes[1] & 2 != 0
        hasRightDigest = bytes[1] & 4 != 0
    }

    var choices: [UInt8] {
        [UInt8(index), (isReleased ? 1 : 0) | (hasNetwork ? 2 : 0) | (hasRightDigest ? 4 : 0)]
    }

    var bytes: [UInt8] { Self.authenticated(document) }

    /// Up to the code.
    var document: [UInt8] {
        let prefix = [20] + [UInt8](repeating: 1, count: 19)
        let envelope = ForgedMessage.ephemeralKey + ForgedMessage.sealing(prefix + payload)
        let digests = (0..<3).map { place in
            let isOwn = place == index && hasRightDigest
            return "\"\(Hex.encode(isOwn ? digest : [UInt8](repeating: 3, count: 32)))\""
        }
        let text = """
            {"format":"coffer.share.v1","state":"\(isReleased ? "released" : "sealed")",\
            "split":"\(Hex.encode(Self.split))","index":\(index),"holder":"anna",\
            "recipient":"\(Hex.encode(ForgedMessage.recipient))",\
            \(isReleased ? "\"restoration\":\"\(Hex.encode(Self.restoration))\"," : "")\
            "wallet":{"kind":"dash",\(hasNetwork ? "\"network\":\"mainnet\"," : "")\
            "identity":"0a0b","words":12},"made":1767225600,\
            "digests":[\(digests.joined(separator: ","))],\
            "envelope":"\(String(decoding: Base64.standard.encode(envelope), as: UTF8.self))"
            """
        return Array(text.utf8)
    }

    private var digest: [UInt8] {
        SHA256.digest(Array("coffer.share.digest.v1".utf8) + Self.split + [UInt8(index)] + payload)
    }

    /// A document with its code.
    static func authenticated(_ document: [UInt8]) -> [UInt8] {
        let key = must {
            SharedSecret(
                try HKDF.sha256(
                    key: ForgedMessage.key(), salt: [], info: Array("coffer.share.file.v1".utf8),
                    count: 32))
        }
        let code = HMAC.sha256(key: key.bytes, message: document).withBytes { Array($0) }
        return document + Array(",\"mac\":\"\(Hex.encode(code))\"}".utf8)
    }
}
