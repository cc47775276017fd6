import Crypto
import Foundation
import Secrets
import Testing

@Suite struct KeyFileRules {
    private let seed = rising(0x40, 32)
    private let passphrase = Array("korrekt Pferd é".utf8)

    @Test func aProtectedKeyComesBackWithItsPassphraseAlone() throws {
        let text = try protected()
        let file = try Ed25519KeyFile(SecretBytes(copying: text))
        let isProtected = file.isProtected
        #expect(isProtected)
        #expect(try file.seed(passphrase: SecretBytes(copying: passphrase)).array == seed)
        for other in [[0x20], passphrase + [0x20], Array(passphrase.dropLast())] as [[UInt8]] {
            #expect(throws: KeyFileError.wrongPassphrase) {
                _ = try file.seed(passphrase: SecretBytes(copying: other))
            }
        }
    }

    /// Each has salt and vector of its own, and says nothing of the key.
    @Test func noTwoFilesAreAlike() throws {
        let one = try protected()
        #expect(try protected() != one)
        let der = try #require(Data(base64Encoded: Self.base64(one)))
        #expect(der.range(of: Data(seed)) == nil)
    }

    /// The scheme has no code over what it protects, so a change may give another key, or make no
    /// difference; which key it is, its public half tells.
    @Test func aChangedFileNeverStopsTheReader() throws {
        let folder = try Scratch()
        defer { folder.remove() }
        _ = try folder.openssl("genpkey", "-algorithm", "ed25519", "-out", "ed.pem")
        let text = try folder.openssl(
            "pkcs8", "-topk8", "-in", "ed.pem", "-passout", "pass:a", "-iter", "1")
        let whole = try #require(Data(base64Encoded: Self.base64(text)))
        var keys = 0
        for bit in 0..<whole.count * 8 {
            var changed = whole
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let read = try? Self.seed(of: Self.text(of: changed)) else { continue }
            keys += 1
            #expect(read.count == 32)
        }
        #expect(keys > 0 && keys < whole.count)
    }

    @Test func whatIsNoKeyFileIsDamaged() throws {
        let text = String(decoding: try protected(), as: UTF8.self)
        for changed in [
            "", "x", "-----BEGIN PRIVATE KEY-----\n", String(text.dropLast(2)),
            text.replacing("ENCRYPTED ", with: ""), text.replacing("END ENCRYPTED", with: "END"),
            text.replacing("PRIVATE", with: "PUBLIC"), text.replacing("\nM", with: "\n M"),
            text.replacing("\n-----END", with: "A\n-----END"),
            "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
            "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n",
            String(repeating: "x", count: 20_000),
        ] {
            #expect(throws: KeyFileError.damaged, "\(changed.prefix(30))") {
                let file = try Ed25519KeyFile(SecretBytes(copying: Array(changed.utf8)))
                _ = try file.seed(passphrase: SecretBytes(copying: passphrase))
            }
        }
    }

    @Test func lineEndsOfAnotherSystemAndWordsBeforeItDoNotMatter() throws {
        let text = "of anna\n" + String(decoding: try protected(), as: UTF8.self)
        let crlf = Array(text.replacing("\n", with: "\r\n").utf8)
        let file = try Ed25519KeyFile(SecretBytes(copying: crlf))
        #expect(try file.seed(passphrase: SecretBytes(copying: passphrase)).array == seed)
    }

    @Test(arguments: [0, 4_097]) func aPassphraseHasALength(_ count: Int) {
        #expect(throws: KeyFileError.invalid) {
            _ = try Ed25519KeyFile.protected(
                seed: SecretBytes(copying: seed), passphrase: SecretBytes(count: count),
                random: KernelRandom())
        }
    }

    @Test func aPublicKeyComesBack() throws {
        let key = try Ed25519.publicKey(seed: SecretBytes(copying: seed))
        let text = try Ed25519KeyFile.text(publicKey: key)
        #expect(try Ed25519KeyFile.publicKey(text) == key)
        #expect(throws: KeyFileError.damaged) {
            _ = try Ed25519KeyFile.publicKey(try protected())
        }
        #expect(throws: KeyFileError.invalid) { _ = try Ed25519KeyFile.text(publicKey: [1]) }
    }

    // MARK: OpenSSL's command

    @Test func theOpenSSLCommandReadsWhatIsWritten() throws {
        let folder = try Scratch()
        defer { folder.remove() }
        try folder.write(try protected(), to: "key.pem")
        try folder.write(passphrase, to: "passphrase")
        let shown = try folder.openssl(
            "pkey", "-in", "key.pem", "-passin", "file:passphrase", "-pubout")
        let publicKey = try Ed25519.publicKey(seed: SecretBytes(copying: seed))
        #expect(try Ed25519KeyFile.publicKey(shown) == publicKey)
        #expect(try Ed25519KeyFile.text(publicKey: publicKey) == shown)
    }

    @Test(arguments: [
        ["-v2", "aes-256-cbc"], ["-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA512"],
        ["-v2", "des3", "-iter", "100000"], ["-scrypt"],
    ])
    func whatTheOpenSSLCommandProtectsIsRead(_ options: [String]) throws {
        let folder = try Scratch()
        defer { folder.remove() }
        try folder.write(passphrase, to: "passphrase")
        _ = try folder.openssl("genpkey", "-algorithm", "ed25519", "-out", "clear.pem")
        let text = try folder.openssl(
            ["pkcs8", "-topk8", "-in", "clear.pem", "-passout", "file:passphrase"] + options)
        let clear = try Ed25519KeyFile(SecretBytes(copying: try folder.read("clear.pem")))
        let file = try Ed25519KeyFile(SecretBytes(copying: text))
        let areProtected = [file.isProtected, clear.isProtected]
        #expect(areProtected == [true, false])
        #expect(throws: KeyFileError.wrongPassphrase) {
            _ = try file.seed(passphrase: SecretBytes(copying: [0x21]))
        }
        let seed = try file.seed(passphrase: SecretBytes(copying: passphrase))
        #expect(try clear.seed(passphrase: SecretBytes(count: 0)).array == seed.array)
        let shown = try folder.openssl("pkey", "-in", "clear.pem", "-pubout")
        #expect(try Ed25519KeyFile.publicKey(shown) == Ed25519.publicKey(seed: seed))
    }

    /// Other kinds of keys, an outdated protection, and one that takes a day.
    @Test(arguments: [
        ["genpkey", "-algorithm", "x25519"],
        ["genpkey", "-algorithm", "ed448"],
        ["genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
        [
            "pkcs8", "-topk8", "-in", "ed.pem", "-passout", "pass:a", "-v1", "PBE-SHA1-3DES",
        ],
    ])
    func anotherAlgorithmIsToldApart(_ command: [String]) throws {
        let folder = try Scratch()
        defer { folder.remove() }
        _ = try folder.openssl("genpkey", "-algorithm", "ed25519", "-out", "ed.pem")
        let text = try folder.openssl(command)
        #expect(throws: KeyFileError.otherAlgorithm) {
            let file = try Ed25519KeyFile(SecretBytes(copying: text))
            _ = try file.seed(passphrase: SecretBytes(copying: [0x61]))
        }
    }

    @Test func aFileThatAsksForTooMuchWorkIsRefused() throws {
        let folder = try Scratch()
        defer { folder.remove() }
        _ = try folder.openssl("genpkey", "-algorithm", "ed25519", "-out", "ed.pem")
        let text = try folder.openssl(
            "pkcs8", "-topk8", "-in", "ed.pem", "-passout", "pass:a", "-scrypt")
        // N is 16384, r is 8; p becomes 127.
        var der = try #require(Data(base64Encoded: Self.base64(text)))
        let cost = try #require(
            der.range(of: Data([0x02, 0x02, 0x40, 0x00, 0x02, 0x01, 0x08, 0x02, 0x01, 0x01])))
        der[cost.upperBound - 1] = 0x7f
        #expect(throws: KeyFileError.otherAlgorithm) { _ = try Self.seed(of: Self.text(of: der)) }
    }

    private func protected() throws -> [UInt8] {
        try Ed25519KeyFile.protected(
            seed: SecretBytes(copying: seed), passphrase: SecretBytes(copying: passphrase),
            random: KernelRandom())
    }

    private static func seed(of text: [UInt8]) throws -> [UInt8] {
        try Ed25519KeyFile(SecretBytes(copying: text))
            .seed(passphrase: SecretBytes(copying: [0x61])).array
    }

    private static func text(of der: Data) -> [UInt8] {
        Array(
            """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            \(der.base64EncodedString())
            -----END ENCRYPTED PRIVATE KEY-----

            """.utf8)
    }

    private static func base64(_ text: [UInt8]) -> String {
        String(decoding: text, as: UTF8.self).split(separator: "\n").dropFirst().dropLast()
            .joined()
    }
}

/// A folder in which OpenSSL's command works.
private struct Scratch {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(at: url) }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: url.appending(path: name))
    }

    func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: url.appending(path: name)))
    }

    func openssl(_ arguments: String...) throws -> [UInt8] { try openssl(arguments) }

    /// What the command writes.
    func openssl(_ arguments: [String]) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = url
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let written = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "openssl \(arguments)")
        return Array(written)
    }
}
