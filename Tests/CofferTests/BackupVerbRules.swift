import AuthorityMessages
import BackupShares
import Crypto
import Foundation
import Secrets
import SharesMessages
import TestKit
import Testing
import VaultMessages
import Wire

@testable import CofferCore

@Suite struct BackupVerbRules {
    // MARK: Splitting

    @Test func aSplitIsThreeFilesAndCountsWhenTheyAreWritten() throws {
        let world = try ShareWorld()
        let object = try world.fixture.json(
            "backup", "split", "savings", "--out", world.folder.path(of: "out"))
        #expect(try object.bool("confirmed"))
        let files = try (0..<3).map { try ShareFile(world.read(world.sharePath($0))) }
        #expect(files.map(\.holder) == world.names)
        for index in 0..<3 {
            var status = stat()
            #expect(stat(world.sharePath(index), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            #expect(
                try files[index].payload(privateKey: world.seed(index)).bytes.count == 220)
        }
        #expect(world.confirmed.count == 1)
        #expect(world.confirmed.first?.files == files.map { SHA256.digest($0.bytes) })
    }

    /// Whoever finds the files needs nothing of Coffer.
    @Test(.enabled(if: hasPythonCryptography, "needs python3 with the package cryptography"))
    func theTextBesideTheFilesRestoresThePhrase() throws {
        let world = try ShareWorld()
        let object = try world.fixture.json(
            "backup", "split", "savings", "--out", world.folder.path(of: "out"))
        let path = world.folder.path(of: "out/README-a0a1a2a3.txt")
        #expect(try object.string("readme") == path)
        let text = String(decoding: try world.read(path), as: UTF8.self)
        let head = try #require(text.split(separator: "\n\n#!").first)
        #expect(head.split(separator: "\n").allSatisfy { $0.hasPrefix("#") && $0.count <= 100 })
        for told in ["bip39", "12", Hex.encode(ShareWorld.identity), "-a0a1a2a3.share"] {
            #expect(head.contains(told))
        }
        for name in world.names { #expect(!head.contains(name)) }
        let keys = try (0..<3).map { try world.clearKey($0) }
        let arguments = (0..<3).flatMap { [keys[$0], world.sharePath($0)] }
        #expect(try python([path] + arguments) == ShareWorld.phrase + "\n")
    }

    /// One entry for the list, the proof and the confirmation.
    @Test func thePasscodeIsTypedOnce() throws {
        let world = try ShareWorld()
        try world.split()
        #expect(world.fixture.person.asked == ["Passcode"])
        let services = world.fixture.services
        #expect(services.seen(Verify.self).count == 2)
        let split = try #require(services.seen(SplitWallet.self).first)
        #expect(String(decoding: split.token, as: UTF8.self).contains("reveal"))
        let confirmation = try #require(services.seen(ConfirmSplit.self).first)
        #expect(String(decoding: confirmation.token, as: UTF8.self).contains("resource"))
    }

    /// What `unlock` keeps is for the vault alone.
    @Test func aKeptSessionIsNotUsedForBackups() throws {
        let world = try ShareWorld(secrets: ["1234", "1234"])
        _ = try world.fixture.run("unlock")
        try world.split()
        #expect(world.fixture.person.asked.count == 2)
        let kept = try #require(world.fixture.keyring.kept.first { $0.key.hasSuffix(":main") })
        #expect(world.fixture.keyring.kept[kept.key] != nil)
    }

    @Test func threeHoldersAreNamedWhereThereAreMore() throws {
        for (names, isRight) in [
            (["carl", "anna", "bert"], true), (["anna", "bert"], false),
            (["anna", "anna", "bert"], false), (["anna", "bert", "dora"], false),
        ] {
            let world = try ShareWorld()
            let options = names.flatMap { ["--holder", $0] }
            let report = try? world.run(
                ["backup", "split", "savings", "--out", world.folder.path(of: "out")] + options)
            #expect((report != nil) == isRight)
            if isRight { #expect(try ShareFile(world.read(world.sharePath(2))).index == 0) }
            #expect(world.fixture.person.asked.isEmpty != isRight)
        }
    }

    @Test func withoutThreeHoldersNothingIsAsked() throws {
        let world = try ShareWorld()
        world.fixture.services.on(ListHolders.self) { _, _ in
            Answer(ListHolders.Reply(holders: []))
        }
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "split", "savings", "--out", world.folder.path(of: "o")])
        }
        #expect(failed?.exitCode == .usage)
        #expect(failed?.refusal.message.contains("there are 0") == true)
        #expect(world.fixture.person.asked.isEmpty)
    }

    @Test func aFileThatStandsThereIsNotReplacedAndTheSplitDoesNotCount() throws {
        let world = try ShareWorld()
        try #require(mkdir(world.folder.path(of: "out"), 0o700) == 0)
        try world.write([1], to: "out/carl-a0a1a2a3.share")
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "split", "savings", "--out", world.folder.path(of: "out")])
        }
        #expect(failed?.code == "coffer.file_exists")
        #expect(world.confirmed.isEmpty)
        #expect(access(world.sharePath(0), F_OK) != 0)
        #expect(try world.read(world.sharePath(2)) == [1])
    }

    /// Two splits at one time are two sets of files, and a set that is mixed is none.
    @Test func aFolderThatCameToBeInTheMeantimeIsNotFilled() throws {
        let world = try ShareWorld()
        let out = world.folder.path(of: "out")
        world.fixture.services.on(ListWallets.self) { _, _ in
            mkdir(out, 0o700)
            return Answer(ListWallets.Reply(wallets: [Fixture.wallet], more: false))
        }
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "split", "savings", "--out", out])
        }
        #expect(failed?.code == "coffer.file_exists")
        // The split was made all the same, and that is said.
        #expect(failed?.refusal.outcome == .unknown)
        #expect(failed?.refusal.message.contains("`coffer backup list` as not confirmed") == true)
        #expect(world.confirmed.isEmpty)
        #expect(rmdir(out) == 0)
    }

    /// In a folder that is not there, in one that takes none, and where a file is.
    @Test(arguments: ["/nowhere/x/out", "/proc/out", "/proc", "file"])
    func aFolderThatCannotBeMadeOrFilledIsToldBeforeTheProofIsSpent(_ out: String) throws {
        let world = try ShareWorld()
        try world.write([1], to: "file")
        let path = out.hasPrefix("/") ? out : world.folder.path(of: out)
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "split", "savings", "--out", path])
        }
        #expect(failed?.code == "coffer.file_not_written")
        #expect(failed?.refusal.outcome == .rejected)
        #expect(world.fixture.services.seen(SplitWallet.self).isEmpty)
        #expect(world.fixture.person.asked.isEmpty)
    }

    @Test func aReplyThatIsNotOfTheSplitIsNotWritten() throws {
        let world = try ShareWorld()
        let other = try ShareWorld()
        try other.split()
        let answer = try other.read(other.sharePath(0))
        world.fixture.services.on(SplitWallet.self) { request, _ in
            let share = Manifest.Share(
                holder: request.holders[0], publicKey: [UInt8](repeating: 1, count: 32),
                digest: [UInt8](repeating: 1, count: 32), file: SHA256.digest(answer))
            let manifest = Manifest(
                split: try #require(SplitID([UInt8](repeating: 0, count: 16))),
                wallet: ShareWorld.wallet, made: 1, confirmed: false,
                shares: [share, share, share])
            return Answer(
                manifest,
                attachments: (0..<3).map { _ in SharedSecret(SecretBytes(copying: answer)) })
        }
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "split", "savings", "--out", world.folder.path(of: "out")])
        }
        #expect(failed?.code == "bus.bad_reply")
        #expect(access(world.folder.path(of: "out"), F_OK) != 0)
    }

    @Test func whereTheSplitIsNotConfirmedThatIsSaid() throws {
        let world = try ShareWorld()
        world.fixture.services.on(ConfirmSplit.self) { _, _ in
            throw SharesFault.otherFiles.refusal
        }
        let run = try world.fixture.prepare([
            "backup", "split", "savings", "--out", world.folder.path(of: "out"),
        ])
        let failed = failure { () throws(CommandFailure) in _ = try run.invocation.verb.run(run) }
        #expect(failed?.exitCode == .damaged)
        #expect(run.notes.contains { $0.contains("does not count as a backup") })
        #expect(try ShareFile(world.read(world.sharePath(0))).holder == "anna")
    }

    // MARK: Lists and requests

    @Test func theListTellsWhatCounts() throws {
        let world = try ShareWorld(secrets: ["1234", "1234"])
        let share = Manifest.Share(
            holder: try #require(HolderName("anna")), publicKey: [UInt8](repeating: 1, count: 32),
            digest: [UInt8](repeating: 1, count: 32), file: [UInt8](repeating: 1, count: 32))
        let manifests = try [0, 1].map { number in
            Manifest(
                split: try #require(SplitID([UInt8](repeating: number, count: 16))),
                wallet: ShareWorld.wallet, made: 1_700_000_000, confirmed: number == 0,
                shares: [share, share, share])
        }
        world.fixture.services.on(ListSplits.self) { request, _ in
            Answer(
                ListSplits.Reply(
                    splits: [manifests[request.after == nil ? 0 : 1]], more: request.after == nil))
        }
        let (report, notes) = try world.fixture.run("backup", "list")
        #expect(notes.contains { $0.contains("`coffer owner reset`") })
        // Perhaps its files were never written.
        #expect(notes.contains { $0.contains("Where its three files were written they restore") })
        #expect(report.text.contains("backup"))
        #expect(report.text.contains("not confirmed"))
        #expect(try world.fixture.json("backup", "list").objects("splits").count == 2)
    }

    @Test func aRequestIsWrittenForTheHolders() throws {
        let world = try ShareWorld()
        let path = world.folder.path(of: "request")
        let object = try world.fixture.json("backup", "request", "--out", path)
        let request = try #require(ReleaseRequest(world.read(path)))
        #expect(try object.identifier("restoration") == request.restoration)
        #expect(
            try object.string("fingerprint") == KeyFingerprint.text(of: request.publicKey))
        #expect(world.restorations[request.restoration]?.publicKey == request.publicKey)
    }

    @Test func aRequestThatCannotBeWrittenBeginsNothing() throws {
        let world = try ShareWorld()
        try world.write([1], to: "request")
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "request", "--out", world.folder.path(of: "request")])
        }
        #expect(failed?.code == "coffer.file_exists")
        #expect(world.fixture.services.seen(BeginRestoration.self).isEmpty)
    }

    @Test func aRestorationWhoseKeyIsDamagedIsNotUsed() throws {
        let world = try ShareWorld()
        world.fixture.services.on(BeginRestoration.self) { _, _ in
            Answer(
                RestorationDescription(
                    restoration: try #require(RestorationID([UInt8](repeating: 0, count: 16))),
                    publicKey: [UInt8](repeating: 0, count: 32), begun: 1, intact: false))
        }
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "request", "--out", world.folder.path(of: "request")])
        }
        #expect(failed?.exitCode == .damaged)
        #expect(access(world.folder.path(of: "request"), F_OK) != 0)
    }

    @Test func aRestorationIsListedAndGivenUp() throws {
        let world = try ShareWorld(secrets: ["1234", "1234", "1234"])
        _ = try world.run(["backup", "request", "--out", world.folder.path(of: "request")])
        let open = world.restorations
        world.fixture.services.on(ListRestorations.self) { _, _ in
            Answer(
                ListRestorations.Reply(
                    restorations: open.map { id, keys in
                        RestorationDescription(
                            restoration: id, publicKey: keys.publicKey, begun: 1, intact: true)
                    }))
        }
        let entries = try world.fixture.json("backup", "requests").objects("restorations")
        let id = try #require(try entries.first?.string("restoration"))
        _ = try world.run(["backup", "cancel", id])
        #expect(world.restorations.isEmpty)
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "cancel", "x"])
        }
        #expect(failed?.exitCode == .usage)
    }
}

private let hasPythonCryptography = (try? python(["-c", "import cryptography"])) == ""

/// What python3 prints, where it ends well.
private func python(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3"] + arguments
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let written = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? String(decoding: written, as: UTF8.self) : "failed"
}
