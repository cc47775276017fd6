import AuthorityDouble
import Glibc
import Loop
import Serving
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import VaultCore

@Suite struct RemovalRules {
    @Test func nothingOfARemovedWalletStaysOnTheDisk() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let kept = try await rig.create(label: "kept").wallet
            let traces = try Self.documents(rig).map { Array($0.suffix(100)) }
            #expect(traces.count == 4)
            // The control: all four are there now, so that looking for them can fail.
            #expect(try traces.filter { try Self.disk(rig, holds: $0) }.count == 4)

            try await rig.ask(
                RemoveWallet(namespace: rig.main, wallet: wallet), token: rig.token(.settings))
            #expect(try await rig.list().map(\.wallet) == [kept])
            #expect(try Self.documents(rig).count == 2)
            #expect(try traces.filter { try Self.disk(rig, holds: $0) }.count == 2)
            #expect(
                try await rig.refusal(
                    CheckWallet(namespace: rig.main, wallet: kept),
                    token: rig.token(.resource(rig.main))) == "ok")
        }
    }

    @Test func onlyASettingsSessionOfThePasscodeRemoves() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let request = RemoveWallet(namespace: rig.main, wallet: wallet)
            for scope in [
                Scope.resource(rig.main), .reveal(rig.main, wallet), .sign(rig.main, wallet),
                .managePasscode, .appUnlock,
            ] {
                #expect(
                    try await rig.refusal(request, token: rig.token(scope))
                        == "lease.not_authorised")
            }
            for origin in [Origin.device, .unprotected] {
                #expect(
                    try await rig.refusal(request, token: rig.token(.settings, origin: origin))
                        == "lease.not_authorised")
            }
            #expect(
                try await rig.refusal(
                    request, from: rig.viewer,
                    token: rig.token(.settings, holder: rig.viewer)) == "bus.forbidden")
            #expect(try await rig.list().count == 1)
            #expect(try await rig.refusal(request, token: rig.token(.settings)) == "ok")
            #expect(try await rig.list().isEmpty)
            #expect(
                try await rig.refusal(request, token: rig.token(.settings))
                    == "vault.no_such_wallet")
        }
    }

    @Test func aRemovalAsksTheAuthorityThoughItNeedsNoKey() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            let opened = try rig.authority.open(
                .settings, for: rig.owner, holder: rig.app.key)
            rig.authority.end(opened.session, silently: true)
            #expect(
                try await rig.refusal(
                    RemoveWallet(namespace: rig.main, wallet: wallet), token: opened.token)
                    == "session.ended")
            rig.authority.onTheWay = { method in
                if method == "authority.derive" { rig.clock.advance(milliseconds: 250) }
            }
            #expect(
                try await rig.refusal(
                    RemoveWallet(namespace: rig.main, wallet: wallet), token: rig.token(.settings))
                    == "lease.over")
            rig.authority.onTheWay = nil
            #expect(try await rig.list().count == 1)
        }
    }

    @Test func aWalletRemovedWhileItIsBeingShownIsNotShown() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            rig.stretcher.meanwhile = {
                try? rig.tamper { try $0.run("DELETE FROM wallets") }
            }
            #expect(
                try await rig.refusal(
                    RevealWallet(namespace: rig.main, wallet: wallet),
                    token: rig.token(.reveal(rig.main, wallet))) == "vault.no_such_wallet")
        }
    }

    @Test func aRemovedWalletCanComeBack() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let first = try await rig.importPhrase(publishedPhrase)
            try await rig.ask(
                RemoveWallet(namespace: rig.main, wallet: first.wallet),
                token: rig.token(.settings))
            let second = try await rig.importPhrase(publishedPhrase)
            #expect(second.wallet != first.wallet)
            #expect(second.identity == first.identity)
        }
    }

    @Test func movingAnOwnerAsideLeavesTheOthers() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let mine = try await rig.create().wallet
            let theirs = try await rig.create(owner: rig.other).wallet
            try rig.tamper { database in
                for table in VaultService.ownerTables {
                    try database.run(table.delete, .text(rig.owner.text))
                }
            }
            #expect(try await rig.list().isEmpty)
            #expect(try await rig.list(owner: rig.other).map(\.wallet) == [theirs])
            #expect(try Self.documents(rig).count == 2)
            try rig.tamper { database in
                for table in VaultService.ownerTables {
                    try database.run(table.keep, .text(rig.owner.text))
                }
            }
            #expect(try rig.service.owners().isEmpty)
            #expect(try Self.documents(rig).isEmpty)
            #expect(mine != theirs)
        }
    }

    @ServiceLoop
    private static func documents(_ rig: Rig) throws -> [[UInt8]] {
        try rig.database.rows("SELECT document FROM envelopes ORDER BY ref") {
            row throws(StorageError) in try row.blob(0)
        }
    }

    @ServiceLoop
    private static func disk(_ rig: Rig, holds bytes: [UInt8]) throws -> Bool {
        for name in ["vault.db", "vault.db-wal"] {
            let content = try read(rig.folder.path(of: name))
            let found = content.indices.contains { start in
                content[start] == bytes[0] && content[start...].starts(with: bytes)
            }
            if found { return true }
        }
        return false
    }

    /// The bytes of a file; none where it is not there.
    private static func read(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "rb") else { return [] }
        defer { fclose(file) }
        var content: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { return content }
            content += piece[..<count]
        }
    }
}
