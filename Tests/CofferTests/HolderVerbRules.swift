import AuthorityMessages
import BackupShares
import Crypto
import Glibc
import Secrets
import SharesMessages
import TestKit
import Testing
import Wire

@testable import CofferCore

@Suite struct HolderVerbRules {
    // MARK: Keys

    @Test func aKeyPairIsTwoFilesThatBelongTogether() throws {
        let world = try ShareWorld(secrets: ["a long passphrase"])
        let path = world.folder.path(of: "key.pem")
        let object = try world.fixture.json("holder", "keygen", "--out", path)
        let publicKey = try Ed25519KeyFile.publicKey(world.read("\(path).pub"))
        let file = try Ed25519KeyFile(SecretBytes(copying: world.read(path)))
        let isProtected = file.isProtected
        #expect(isProtected)
        let passphrase = SecretBytes(copying: Array("a long passphrase".utf8))
        #expect(
            try Ed25519.publicKey(seed: file.seed(passphrase: passphrase)) == publicKey)
        #expect(try object.hex("public_key", count: 32) == publicKey)
        #expect(try object.string("fingerprint") == KeyFingerprint.text(of: publicKey))
        for path in [path, "\(path).pub"] {
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
        // No service was asked for anything.
        #expect(world.fixture.services.seen.isEmpty)
    }

    @Test(arguments: ["key.pem", "key.pem.pub"]) func noKeyIsReplaced(_ taken: String) throws {
        let world = try ShareWorld(secrets: ["a long passphrase"])
        try world.write([1], to: taken)
        let failed = failure { () throws(CommandFailure) in
            _ = try world.fixture.run(
                "holder", "keygen", "--out", world.folder.path(of: "key.pem"))
        }
        #expect(failed?.code == "coffer.file_exists")
        #expect(try world.read(world.folder.path(of: taken)) == [1])
        #expect(world.fixture.person.asked.isEmpty)
    }

    @Test func aPassphraseMayComeFromADescriptor() throws {
        let world = try ShareWorld(secrets: [])
        let path = world.folder.path(of: "key.pem")
        _ = try world.fixture.run(
            "holder", "keygen", "--out", path, "--passphrase-fd", world.descriptor("pass\n"))
        let file = try Ed25519KeyFile(SecretBytes(copying: world.read(path)))
        #expect(
            try file.seed(passphrase: SecretBytes(copying: Array("pass".utf8))).count == 32)
    }

    @Test(arguments: [("a plain ~ passphrase", false), ("pässphrase", true)])
    func aPassphraseThatOtherKeyboardsTypeOtherwiseIsTold(_ text: String, _ isTold: Bool) throws {
        let world = try ShareWorld(secrets: [text])
        let (_, notes) = try world.fixture.run(
            "holder", "keygen", "--out", world.folder.path(of: "key.pem"))
        #expect(notes.contains { $0.contains("letters outside ASCII") } == isTold)
        #expect(notes.count == (isTold ? 1 : 0))
    }

    @Test func aFingerprintIsEightGroups() {
        let text = KeyFingerprint.text(of: [UInt8](repeating: 0, count: 32))
        #expect(text == "6668 7aad f862 bd77 6c8f c18b 8e9f 8e20")
    }

    // MARK: Who keeps shares

    @Test func aHolderIsTakenInByHisPublicKey() throws {
        let world = try ShareWorld(secrets: ["1234", "1234"])
        world.fixture.services.on(AddHolder.self) { request, _ in
            Answer(
                HolderDescription(name: request.name, publicKey: request.publicKey, added: 1))
        }
        let key = try world.publicKey(0)
        try world.write(Ed25519KeyFile.text(publicKey: key), to: "anna.pub")
        _ = try world.fixture.run(
            "holder", "add", "anna", "--key", world.folder.path(of: "anna.pub"))
        let (report, _) = try world.fixture.run(
            "holder", "add", "anna", "--public-key", Hex.encode(key).uppercased())
        #expect(report.text.contains(KeyFingerprint.text(of: key)))
        let seen = world.fixture.services.seen(AddHolder.self)
        #expect(seen.count == 2)
        #expect(
            seen.allSatisfy { String(decoding: $0.token, as: UTF8.self) == "token of settings" })
    }

    @Test func aPrivateKeyIsNoPublicOne() throws {
        let world = try ShareWorld()
        let failed = failure { () throws(CommandFailure) in
            _ = try world.fixture.run("holder", "add", "anna", "--key", world.keyPath(0))
        }
        #expect(failed?.exitCode == .usage)
        #expect(failed?.refusal.message.contains("is a private key") == true)
        let protected = failure { () throws(CommandFailure) in
            _ = try world.fixture.run("holder", "add", "anna", "--key", world.keyPath(1))
        }
        #expect(protected?.refusal.message.contains("is a private key") == true)
        #expect(world.fixture.person.asked.isEmpty)
    }

    @Test func aPublicKeyIsNoPrivateOne() throws {
        let world = try ShareWorld()
        try world.split()
        try world.write(Ed25519KeyFile.text(publicKey: world.publicKey(0)), to: "anna.pub")
        let failed = failure { () throws(CommandFailure) in
            _ = try world.fixture.run(
                "holder", "release", "--share", world.sharePath(0), "--key",
                world.folder.path(of: "anna.pub"), "--for", String(repeating: "ab", count: 32),
                "--restoration", String(repeating: "00", count: 16), "--yes", "--out",
                world.folder.path(of: "released"))
        }
        #expect(failed?.exitCode == .usage)
        #expect(failed?.refusal.message.contains("is a public key") == true)
    }

    @Test func aHolderIsRemovedUnderASettingsSession() throws {
        let world = try ShareWorld()
        world.fixture.services.on(RemoveHolder.self) { _, _ in Answer(Empty()) }
        _ = try world.fixture.run("holder", "remove", "anna")
        #expect(world.fixture.services.seen(RemoveHolder.self).count == 1)
        #expect(world.fixture.services.seen(Revoke.self).count == 1)
    }

    @Test func theListNeedsNoPasscode() throws {
        let world = try ShareWorld(secrets: [])
        let object = try world.fixture.json("holder", "list")
        #expect(try object.objects("holders").count == 3)
        #expect(
            try object.objects("holders")[0].string("fingerprint")
                == KeyFingerprint.text(of: world.publicKey(0)))
    }

    // MARK: Releasing

    @Test func aShareIsReleasedForTheKeyOfARequest() throws {
        let world = try ShareWorld(secrets: ["1234", "bert"], lines: ["yes"])
        try world.split()
        let asked = world.fixture.services.seen.count
        let client = SecretBytes(copying: [UInt8](repeating: 9, count: 32))
        let key = try Ed25519.publicKey(seed: client)
        let id = try #require(RestorationID([UInt8](0..<16)))
        try world.write(
            ReleaseRequest(restoration: id, publicKey: key).bytes, to: "request")
        let out = world.folder.path(of: "bert.released")
        let (report, _) = try world.fixture.run(
            "holder", "release", "--share", world.sharePath(1), "--key", world.keyPath(1),
            "--request", world.folder.path(of: "request"), "--out", out)
        let released = try ShareFile(world.read(out))
        #expect(
            try released.releasedPayload(privateKey: client, restoration: id.bytes).bytes.count
                == 220)
        let question = try #require(world.fixture.person.asked.last)
        for shown in [
            "holder bert", "bip39", Hex.encode(ShareWorld.identity), "2023-11-14 22:13:20 UTC",
            KeyFingerprint.text(of: key),
        ] {
            #expect(question.contains(shown))
            #expect(report.text.contains(shown))
        }
        // Offline: nothing was asked of any service.
        #expect(world.fixture.services.seen.count == asked)
    }

    @Test func whoDoesNotSayYesReleasesNothing() throws {
        let world = try ShareWorld(secrets: ["1234", "bert"], lines: ["y"])
        try world.split()
        let failed = failure { () throws(CommandFailure) in
            _ = try release(world, 1, for: 2)
        }
        #expect(failed?.code == "coffer.not_confirmed")
        #expect(access(world.folder.path(of: "released"), F_OK) != 0)
    }

    @Test func aWrongKeyOrADamagedShareIsNamedWithItsHolder() throws {
        let world = try ShareWorld(secrets: ["1234", "carl", "bert"])
        try world.split()
        let other = failure { () throws(CommandFailure) in
            _ = try release(world, 1, key: 2, for: 3, "--yes")
        }
        #expect(other?.exitCode == .damaged)
        #expect(other?.shares.map(\.problem.text) == ["other_key"])
        #expect(other?.refusal.message.contains("holder bert") == true)
        try world.change("out/bert-a0a1a2a3.share") { $0[$0.count - 3] ^= 1 }
        let damaged = failure { () throws(CommandFailure) in
            _ = try release(world, 1, for: 3, "--yes")
        }
        #expect(damaged?.exitCode == .damaged)
        #expect(damaged?.shares.map(\.problem.text) == ["damaged"])
        #expect(damaged?.shares.first?.holder == "bert")
        #expect(access(world.folder.path(of: "released"), F_OK) != 0)
    }

    @Test func aWrongPassphraseIsToldApartAndMayBeTypedAgain() throws {
        let world = try ShareWorld(secrets: ["1234", "wrong", "bert"])
        try world.split()
        _ = try release(world, 1, for: 3, "--yes")
        #expect(world.fixture.person.asked == ["Passcode", "Passphrase", "Passphrase"])
        unlink(world.folder.path(of: "released"))
        let failed = failure { () throws(CommandFailure) in
            _ = try release(
                world, 2, for: 3, "--yes", "--passphrase-fd", world.descriptor("wrong"))
        }
        #expect(failed?.exitCode == .wrongPasscode)
        #expect(failed?.code == "coffer.wrong_passphrase")
    }

    @Test func whatWasReleasedIsNotReleasedAgain() throws {
        let world = try ShareWorld()
        try world.split()
        _ = try release(world, 0, for: 3, "--yes")
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run([
                "holder", "release", "--share", world.folder.path(of: "released"), "--key",
                world.keyPath(0), "--for", String(repeating: "ab", count: 32), "--restoration",
                String(repeating: "0", count: 32), "--out", world.folder.path(of: "again"),
                "--yes",
            ])
        }
        #expect(failed?.shares.map(\.problem.text) == ["released"])
    }

    @Test func anEnvelopeOfAnotherProgramIsReleasedAsOne() throws {
        let world = try ShareWorld()
        let payload = SecretBytes(copying: [UInt8](repeating: 7, count: 220))
        let envelope = try ShareEnvelope.seal(
            payload, to: world.publicKey(0), random: KernelRandom())
        try world.write(envelope.bytes, to: "foreign")
        let client = SecretBytes(copying: [UInt8](repeating: 9, count: 32))
        let out = world.folder.path(of: "released")
        let run = try world.fixture.prepare([
            "holder", "release", "--share", world.folder.path(of: "foreign"), "--key",
            world.keyPath(0), "--for", Hex.encode(try Ed25519.publicKey(seed: client)), "--out",
            out, "--yes",
        ])
        let text = try run.invocation.verb.run(run).text
        #expect(text.contains("\nshare    of another program"))
        #expect(text.contains("\nfor key  "))
        let released = try ShareEnvelope(world.read(out))
        #expect(released.bytes.count == 288)
        #expect(try released.open(privateKey: client).isEqual(to: payload))
    }

    @Test func aRequestHasOneForm() throws {
        let id = try #require(RestorationID([UInt8](0..<16)))
        let request = ReleaseRequest(
            restoration: id, publicKey: [UInt8](repeating: 3, count: 32))
        let bytes = request.bytes
        #expect(ReleaseRequest(bytes) == request)
        var kept = 0
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let read = ReleaseRequest(changed) else { continue }
            // Another restoration, which the share is then not released for.
            kept += 1
            #expect(read.publicKey == request.publicKey)
        }
        #expect(kept < 32 * 8)
        #expect(ReleaseRequest([]) == nil)
        #expect(ReleaseRequest(bytes + [0x0A]) == nil)
    }

    @Test(arguments: [
        ["--for", "abc", "--restoration", "00"], [], ["--for", String(repeating: "a", count: 64)],
        ["--request", "x", "--for", String(repeating: "a", count: 64)],
        ["--request", "x", "--restoration", String(repeating: "a", count: 32)],
    ])
    func whatIsReleasedForHasToBeSaid(_ options: [String]) throws {
        let world = try ShareWorld()
        try world.split()
        let asked = world.fixture.person.asked
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(
                [
                    "holder", "release", "--share", world.sharePath(0), "--key", world.keyPath(0),
                    "--out", world.folder.path(of: "released"), "--yes",
                ] + options)
        }
        #expect(failed?.exitCode == .usage)
        #expect(world.fixture.person.asked == asked)
    }

    /// Releases a share to `released` for a key that is made of a number.
    private func release(
        _ world: ShareWorld, _ share: Int, key: Int? = nil, for number: UInt8, _ options: String...
    ) throws(CommandFailure) -> Report {
        let seed = SecretBytes(copying: [UInt8](repeating: number, count: 32))
        guard let client = try? Ed25519.publicKey(seed: seed) else {
            throw CommandFailure(.internalError)
        }
        return try world.run(
            [
                "holder", "release", "--share", world.sharePath(share), "--key",
                world.keyPath(key ?? share), "--for", Hex.encode(client), "--restoration",
                String(repeating: "0", count: 32), "--out", world.folder.path(of: "released"),
            ] + options)
    }
}
