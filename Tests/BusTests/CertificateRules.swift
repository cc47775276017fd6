import Foundation
import Secrets
import Testing
import Wire

@testable import Bus

@Suite(.timeLimit(.minutes(1)))
struct CertificateRules {
    let scratch = Scratch()

    @Test func aPairReadsBackAsItWasWritten() throws {
        let pair = try #require(CurveKeyPair.generate())
        let path = "\(scratch.path)/a.key_secret"
        try CertificateFile.writeSecret(pair, metadata: ["name": "a"], to: path)
        let read = try CertificateFile.readSecret(path)
        #expect(read.publicKey == pair.publicKey)
        let isSame = read.secret.isEqual(to: pair.secret)
        #expect(isSame)
        #expect(mode(of: path) == 0o600)
    }

    @Test func aPublicCertificateKeepsKeyAndMetadata() throws {
        let pair = try #require(CurveKeyPair.generate())
        let path = "\(scratch.path)/a.key"
        let metadata = ["role": "app", "owners": "*", "note": "Ä # =' x"]
        try CertificateFile.writePublic(pair.publicKey, metadata: metadata, to: path)
        let read = try CertificateFile.readPublic(path)
        #expect(read.key == pair.publicKey)
        #expect(read.metadata == metadata)
        #expect(mode(of: path) == 0o644)
    }

    @Test func writingLeavesNoDraftBehind() throws {
        let pair = try #require(CurveKeyPair.generate())
        let path = "\(scratch.path)/a.key"
        try CertificateFile.writePublic(pair.publicKey, to: path)
        try CertificateFile.writePublic(pair.publicKey, to: path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["a.key"])
    }

    @Test(arguments: [0o604, 0o640, 0o660, 0o644, 0o700] as [mode_t])
    func aSecretThatOthersMayReachIsRefusedWithTheWantedMode(mode: mode_t) throws {
        let pair = try #require(CurveKeyPair.generate())
        let path = "\(scratch.path)/a.key_secret"
        try CertificateFile.writeSecret(pair, to: path)
        chmod(path, mode)
        #expect(throws: CertificateError.tooOpen(path: path, mode: mode, wanted: 0o600)) {
            try CertificateFile.readSecret(path)
        }
    }

    @Test func aStricterModeIsAccepted() throws {
        let pair = try #require(CurveKeyPair.generate())
        let path = "\(scratch.path)/a.key_secret"
        try CertificateFile.writeSecret(pair, to: path)
        chmod(path, 0o400)
        #expect(try CertificateFile.readSecret(path).publicKey == pair.publicKey)
    }

    @Test func theRefusalNamesPathAndWantedMode() {
        let error = CertificateError.tooOpen(path: "/k/a.key_secret", mode: 0o644, wanted: 0o600)
        #expect("\(error)" == "/k/a.key_secret: has mode 0644, wanted 0600")
    }

    @Test func aSymbolicLinkIsRefused() throws {
        let pair = try #require(CurveKeyPair.generate())
        try CertificateFile.writeSecret(pair, to: "\(scratch.path)/a.key_secret")
        let link = "\(scratch.path)/b.key_secret"
        symlink("\(scratch.path)/a.key_secret", link)
        #expect(throws: CertificateError.unreadable(path: link, code: ELOOP)) {
            try CertificateFile.readSecret(link)
        }
    }

    @Test func aPublicKeyThatOthersMayChangeIsRefused() throws {
        let pair = try #require(CurveKeyPair.generate())
        let path = "\(scratch.path)/a.key"
        try CertificateFile.writePublic(pair.publicKey, to: path)
        chmod(path, 0o664)
        #expect(throws: CertificateError.tooOpen(path: path, mode: 0o664, wanted: 0o644)) {
            try CertificateFile.readPublic(path)
        }
    }

    @Test func keysOfTwoPairsAreRefused() throws {
        let pair = try #require(CurveKeyPair.generate())
        let other = try #require(CurveKeyPair.generate())
        let mixed = CurveKeyPair(publicKey: other.publicKey, secret: pair.secret.copy())
        let path = "\(scratch.path)/a.key_secret"
        try CertificateFile.writeSecret(mixed, to: path)
        #expect(throws: CertificateError.keysDiffer(path: path)) {
            try CertificateFile.readSecret(path)
        }
    }

    @Test func aPublicCertificateHoldsNoSecretKey() throws {
        let pair = try #require(CurveKeyPair.generate())
        let path = "\(scratch.path)/a.key"
        try CertificateFile.writeSecret(pair, to: path)
        #expect(throws: CertificateError.self) { try CertificateFile.readPublic(path) }
    }

    static let key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"

    @Test(arguments: [
        "curve\n    public-key = \"\(key)",
        "curve\n    public-key = \"\(key)\" x\n",
        "curve\n    public-key = \"\(key.dropLast())\"\n",
        "curve\n    public-key = \"\(key.dropLast())~\"\n",
        "curve\n    public-key = \"\(key)\"\n    public-key = \"\(key)\"\n",
        "curve\n    public-key\n",
        "curve\n    = \"\(key)\"\n",
        "cu rve\n    public-key = \"\(key)\"\n",
        "metadata\n    a = \"\u{1}\"\ncurve\n    public-key = \"\(key)\"\n",
    ])
    func aDamagedFileIsMalformed(text: String) throws {
        let path = scratch.file("a.key", text)
        let error = #expect(throws: CertificateError.self) {
            try CertificateFile.readPublic(path)
        }
        guard case .malformed = error else {
            Issue.record("not malformed: \(String(describing: error))")
            return
        }
    }

    @Test(arguments: ["", "curve\n", "public-key", "metadata\n    public-key = \"\(key)\"\n"])
    func aFileWithoutAKeyHasNone(text: String) throws {
        let path = scratch.file("a.key", text)
        #expect(throws: CertificateError.noPublicKey(path: path)) {
            try CertificateFile.readPublic(path)
        }
    }

    @Test(arguments: [
        "curve\n    public-key = \"\(key)\"",
        "curve\r\n    public-key = \"\(key)\"\r\n",
        "# c\n\ncurve # c\n\tpublic-key='\(key)'  # c\n",
        "other\n    public-key = x\ncurve\n    public-key = \"\(key)\"\n",
    ])
    func formsThatTheFormatAllowsAreRead(text: String) throws {
        let path = scratch.file("a.key", text)
        #expect(try CertificateFile.readPublic(path).key.z85 == Self.key)
    }

    @Test func anyBytesGiveAnAnswer() {
        var generator = SystemRandomNumberGenerator()
        let letters = Array("curve\n    public-key = \"'#\r\t=".utf8) + [0, 0xFF]
        for _ in 0..<5_000 {
            let count = Int.random(in: 0...60, using: &generator)
            let bytes = (0..<count).map { _ in
                letters.randomElement(using: &generator) ?? 0
            }
            _ = bytes.withUnsafeBytes { try? CertificateText.fields(of: $0) }
        }
    }

    @Test(arguments: [["a b": "x"], ["a": "x\"y"], ["a": "x\ny"], ["": "x"]])
    func metadataThatTheFormatCannotHoldIsNotWritten(metadata: [String: String]) throws {
        let pair = try #require(CurveKeyPair.generate())
        let path = "\(scratch.path)/a.key"
        #expect(throws: CertificateError.unwritable(path: path)) {
            try CertificateFile.writePublic(pair.publicKey, metadata: metadata, to: path)
        }
    }
}

@Suite(.enabled(if: Python.hasZeroMQ), .timeLimit(.minutes(1)))
struct PythonCertificateRules {
    let scratch = Scratch()

    @Test func certificatesOfPyzmqAreRead() throws {
        let made = Python.run(
            """
            import os, zmq.auth
            os.umask(0o077)
            zmq.auth.create_certificates('\(scratch.path)', 'a', {'role': 'app', 'owners': '*'})
            print(zmq.auth.load_certificate('\(scratch.path)/a.key')[0].decode())
            """)
        let public_ = try CertificateFile.readPublic("\(scratch.path)/a.key")
        let pair = try CertificateFile.readSecret("\(scratch.path)/a.key_secret")
        #expect(public_.key.z85 == made)
        #expect(pair.publicKey.z85 == made)
    }

    @Test func certificatesOfCofferAreReadByPyzmq() throws {
        let pair = try #require(CurveKeyPair.generate())
        try CertificateFile.writePublic(
            pair.publicKey, metadata: ["role": "app"], to: "\(scratch.path)/a.key")
        try CertificateFile.writeSecret(pair, to: "\(scratch.path)/a.key_secret")
        let read = Python.run(
            """
            import zmq, zmq.auth
            public = zmq.auth.load_certificate('\(scratch.path)/a.key')[0]
            same, secret = zmq.auth.load_certificate('\(scratch.path)/a.key_secret')
            assert public == same == zmq.curve_public(secret)
            print(public.decode())
            """)
        #expect(read == pair.publicKey.z85)
    }
}
