import AuthorityDouble
import BackupShares
import Glibc
import Loop
import Secrets
import Serving
import SharesMessages
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import SharesCore

/// The store holds no share and no phrase, and what was changed in it is noticed where it counts.
@Suite(.timeLimit(.minutes(1)))
struct StoreRules {
    @Test func nothingOfASplitOrARestorationIsInTheFiles() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            let (manifest, files) = try await rig.split(wallet)
            try await rig.confirm(manifest)
            try await rig.remove(wallet)
            let restoration = try await rig.begin()
            let released = try rig.release(files, for: restoration)
            #expect(installed(try await rig.restore(released, restoration)) != nil)
            var secrets = [Array("abandon".utf8)]
            for (bytes, holder) in zip(files, rig.holders) {
                let file = try ShareFile(bytes)
                let payload = try file.payload(privateKey: holder.privateKey.bytes)
                secrets.append(Array(payload.array[5..<37]))
                secrets.append(Array(file.envelope.bytes[32..<64]))
            }
            for bytes in released {
                secrets.append(Array(try ShareFile(bytes).envelope.bytes[32..<64]))
            }
            let stored = try contents(of: rig.folder.path)
            for secret in secrets { #expect(!stored.contains(secret)) }
            // The same search finds what does stand there.
            #expect(stored.contains(manifest.split.bytes))
            #expect(stored.contains(rig.holders[1].publicKey))
        }
    }

    @Test func theKeyOfARestorationIsGoneFromTheFilesWhenItIsOver() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let restoration = try await rig.begin()
            let row = try #require(try rig.store(restoration))
            #expect(try contents(of: rig.folder.path).contains(row.sealed))
            try await rig.ask(
                AbandonRestoration(namespace: rig.main, restoration: restoration.restoration),
                token: rig.resource())
            #expect(try !contents(of: rig.folder.path).contains(row.sealed))
            #expect(try await rig.restorations() == [])
        }
    }

    @Test(
        arguments: [
            "UPDATE restorations SET public_key = zeroblob(32)",
            "UPDATE restorations SET sealed = zeroblob(60)",
            "UPDATE restorations SET sealed = x''",
            "UPDATE restorations SET restoration = zeroblob(16)",
            """
            UPDATE restorations SET public_key =
            (SELECT public_key FROM restorations WHERE position = 2) WHERE position = 1
            """,
            """
            UPDATE restorations SET sealed =
            (SELECT sealed FROM restorations WHERE position = 2) WHERE position = 1
            """,
        ] as [StaticString])
    func aChangedRestorationIsNotIntact(_ change: StaticString) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            _ = try await rig.begin()
            if String(describing: change).contains("position") { _ = try await rig.begin() }
            #expect(try await rig.restorations().allSatisfy(\.intact))
            try rig.tamper { _ = try $0.run(change) }
            let changed = try await rig.restorations()[0]
            #expect(!changed.intact)
            let bare = [UInt8](repeating: 7, count: 288)
            let code = try await code {
                try await rig.restore([bare, bare, bare], changed, kind: .bip39)
            }
            #expect(code == "shares.restoration_damaged")
            try await rig.ask(
                AbandonRestoration(namespace: rig.main, restoration: changed.restoration),
                token: rig.resource())
        }
    }

    @Test func aRestorationOpensInItsNamespaceAndForItsOwnerAlone() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            _ = try await rig.begin()
            try rig.tamper { try $0.run("UPDATE restorations SET namespace = 'spare'") }
            #expect(try await rig.restorations(rig.spare).map(\.intact) == [false])
            try rig.tamper {
                try $0.run("UPDATE restorations SET namespace = 'main', owner = 'second'")
            }
            let theirs = try await rig.ask(
                ListRestorations(namespace: rig.main), owner: rig.other,
                token: rig.resource(owner: rig.other)
            ).reply.restorations
            #expect(theirs.map(\.intact) == [false])
            try rig.tamper { try $0.run("UPDATE restorations SET owner = 'local'") }
            #expect(try await rig.restorations().map(\.intact) == [true])
        }
    }

    /// Each column of a manifest and of its shares.
    @Test(
        arguments: [
            "UPDATE splits SET kind = 'ton', identity = zeroblob(32)",
            "UPDATE splits SET identity = zeroblob(33)", "UPDATE splits SET words = 24",
            "UPDATE splits SET made = made + 1", "UPDATE splits SET mac = zeroblob(32)",
            "UPDATE splits SET mac = x''",
            "UPDATE shares SET holder = 'dora' WHERE place = 1",
            "UPDATE shares SET public_key = zeroblob(32) WHERE place = 0",
            "UPDATE shares SET digest = zeroblob(32) WHERE place = 2",
            "UPDATE shares SET file = zeroblob(32) WHERE place = 1",
        ] as [StaticString])
    func aChangedManifestIsNotConfirmed(_ change: StaticString) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let (manifest, _) = try await rig.split(rig.bring().wallet)
            try await rig.confirm(manifest)
            #expect(try await rig.splits().map(\.confirmed) == [true])
            try rig.tamper { _ = try $0.run(change) }
            let changed = try await rig.splits()
            #expect(changed.map(\.confirmed) == [false])
            let code = try await code { try await rig.confirm(changed[0]) }
            #expect(code == "shares.other_files")
        }
    }

    @Test func aChangedManifestSaysNothingOfWhatIsExpected() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let (manifest, files) = try await rig.split(rig.bring().wallet)
            try await rig.confirm(manifest)
            try rig.tamper { try $0.run("UPDATE splits SET identity = zeroblob(33)") }
            let restoration = try await rig.begin()
            let reply = try await rig.restore(
                try rig.release(files, for: restoration), restoration)
            #expect(reply == .unconfirmed(manifest.wallet))
        }
    }

    @Test(
        arguments: [
            "UPDATE splits SET kind = 'nothing'", "UPDATE splits SET network = 'nowhere'",
            "UPDATE splits SET split = x'00'", "UPDATE splits SET made = -1",
            "DELETE FROM shares WHERE place = 1", "UPDATE shares SET holder = 'a b'",
        ] as [StaticString])
    func aRowThatCannotBeReadIsToldAsDamage(_ change: StaticString) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            _ = try await rig.split(rig.bring().wallet)
            try rig.tamper { _ = try $0.run(change) }
            #expect(try await code { try await rig.splits() } == "storage.damaged")
        }
    }

    /// What moves an owner aside names every table.
    @Test func everyTableWithAnOwnerIsPurged() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            #expect(try tablesLeft(by: SharesService.ownerTables, in: rig.database) == [])
            let all = ["holders", "imports", "restorations", "shares", "splits"]
            #expect(try tablesLeft(by: [], in: rig.database) == all)
        }
    }

    @Test func ownersAreThoseWithAnything() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            #expect(try rig.service.owners() == [])
            _ = try await rig.begin()
            #expect(try rig.service.owners() == [rig.owner])
            try await rig.add(rig.holders[0], owner: rig.other)
            #expect(try rig.service.owners() == [rig.owner, rig.other])
        }
    }
}

extension Rig {
    func store(_ restoration: RestorationDescription) throws -> RestorationRow? {
        try service.store.restoration(
            RestorationAddress(
                owner: owner, namespace: main, restoration: restoration.restoration))
    }
}

/// All bytes of a folder's files.
private struct Contents {
    var bytes: [UInt8] = []

    func contains(_ wanted: [UInt8]) -> Bool {
        guard let first = wanted.first, bytes.count >= wanted.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            (0...(bytes.count - wanted.count)).contains { start in
                bytes[start] == first
                    && wanted.elementsEqual(bytes[start..<(start + wanted.count)])
            }
        }
    }
}

private func contents(of folder: String) throws -> Contents {
    var contents = Contents()
    for name in ["shares.db", "shares.db-wal"] {
        let descriptor = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { continue }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            contents.bytes += buffer[..<count]
        }
    }
    try #require(contents.bytes.count > 4_096)
    return contents
}
