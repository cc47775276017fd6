import Crypto
import Secrets
import Wire

extension FuzzTarget {
    /// The first byte says what the others are.
    ///
    /// Keys under a passphrase are read, and not opened: that takes half a second.
    static let keyFile = FuzzTarget(
        name: "key-file",
        seeds: {
            let seed = [UInt8](repeating: 5, count: 32)
            let text = must { try Ed25519KeyFile.text(publicKey: seed) }
            return [
                [0] + text, [0] + pem(privateHead + seed, "PRIVATE KEY"),
                [0] + Array("a\r\n".utf8) + pem([0x30, 0], "ENCRYPTED PRIVATE KEY"),
                [0] + [UInt8](repeating: 0x0A, count: 40_000), [0] + text + [0x20, 0x0D, 0x0A],
                [0] + Array("-----BEGIN A-----\n@@@\n-----END A-----\n".utf8),
                [0] + Array("-----BEGIN A-----\nAB==\n-----END A-----\n".utf8),
                [1] + privateHead + seed, [2] + publicHead + seed, [0], [1], [2],
            ]
        },
        run: { input in
            guard let mode = input.first else { return }
            let rest = Array(input.dropFirst())
            switch mode {
            case 0: readKeys(rest)
            case 1: readKeys(pem(rest, "PRIVATE KEY"))
            default: readKeys(pem(rest, "PUBLIC KEY"))
            }
        })

    private static func readKeys(_ text: [UInt8]) {
        if let key = try? Ed25519KeyFile.publicKey(text) {
            promise(key.count == Ed25519.publicKeyBytes)
            plantedTrap(key[0] >= 0x80 && key[31] >= 0x80)
            guard let again = try? Ed25519KeyFile.text(publicKey: key) else {
                fatalError("a key that was read cannot be written")
            }
            promise((try? Ed25519KeyFile.publicKey(again)) == key)
        }
        guard let file = try? Ed25519KeyFile(SecretBytes(copying: text)), !file.isProtected,
            let seed = try? file.seed(passphrase: SecretBytes(count: 0))
        else { return }
        promise(seed.count == Ed25519.seedBytes)
    }

    private static func pem(_ der: [UInt8], _ label: String) -> [UInt8] {
        let letters = Base64.standard.encode(der)
        var text = Array("-----BEGIN \(label)-----\n".utf8)
        for start in stride(from: 0, to: letters.count, by: 64) {
            text += letters[start..<min(start + 64, letters.count)] + [0x0A]
        }
        return text + Array("-----END \(label)-----\n".utf8)
    }

    /// What stands before the key in the two DER forms (RFC 8410).
    private static let privateHead: [UInt8] = [
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ]
    private static let publicHead: [UInt8] = [
        0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]
}
