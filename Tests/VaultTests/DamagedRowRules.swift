import AuthorityDouble
import Loop
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import VaultCore

/// A row that cannot be read hides no other wallet.
@Suite struct DamagedRowRules {
    /// What a row may come to hold, and what it is called then.
    @Test(
        arguments: [
            "UPDATE wallets SET kind = 'later' WHERE wallet = ?1",
            "UPDATE wallets SET kind = 'dash' WHERE wallet = ?1",
            "UPDATE wallets SET network = 'mainnet' WHERE wallet = ?1",
            "UPDATE wallets SET words = 1 << 40 WHERE wallet = ?1",
            "UPDATE wallets SET label = CAST(x'FF' AS TEXT) WHERE wallet = ?1",
        ] as [StaticString])
    func theOthersAreListedAndUsed(_ damage: StaticString) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let first = try await rig.create(label: "first")
            let second = try await rig.create(label: "second")
            let third = try await rig.create(label: "third")
            try rig.tamper { try $0.run(damage, .text(second.wallet.text)) }
            let token = try rig.token(.resource(rig.main))
            let page = try await rig.ask(
                ListWallets(namespace: rig.main), token: token
            ).reply
            #expect(page.wallets == [first, third])
            #expect(page.damaged == [second.wallet.text])
            #expect(!page.more)
            #expect(
                try await rig.refusal(
                    CheckWallet(namespace: rig.main, wallet: second.wallet), token: token)
                    == "storage.damaged")
            #expect(
                try await rig.refusal(
                    CheckWallet(namespace: rig.main, wallet: third.wallet), token: token) == "ok")
            #expect(try await rig.reveal(third.wallet).split(separator: " ").count == 12)
            #expect(try await rig.create(label: "fourth").verified)
        }
    }

    @Test func aWalletWithoutAnIdIsCalledByItsRow() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            _ = try await rig.create()
            let wallet = try await rig.create().wallet
            try rig.tamper {
                try $0.run("UPDATE wallets SET wallet = 'x' WHERE wallet = ?1", .text(wallet.text))
            }
            let page = try await rig.ask(
                ListWallets(namespace: rig.main), token: rig.token(.resource(rig.main))
            ).reply
            #expect(page.damaged == ["row 2"])
            #expect(page.wallets.count == 1)
        }
    }

    @Test func aWalletThatCannotBeReadCanBeRemoved() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.create().wallet
            try rig.tamper { try $0.run("UPDATE wallets SET kind = 'later'") }
            try await rig.ask(
                RemoveWallet(namespace: rig.main, wallet: wallet), token: rig.token(.settings))
            let page = try await rig.ask(
                ListWallets(namespace: rig.main), token: rig.token(.resource(rig.main))
            ).reply
            #expect(page == ListWallets.Reply(wallets: [], more: false))
        }
    }

    /// Places of the wallets that are damaged, counted from 0, of 250, and how many are named: of
    /// each page a hundred.
    @Test(arguments: [
        ([], 0), ([0, 1, 2], 3), ([99, 100, 101], 3), (Array(100..<250), 100),
        (Array(0..<250), 100), (Array(50..<249), 100),
        (Array(stride(from: 0, to: 250, by: 2)), 125),
    ])
    func pagesGoOnPastWhatCannotBeRead(_ damaged: [Int], _ namedCount: Int) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try rig.tamper { try Self.fill($0, rig, damaged: damaged) }
            let token = try rig.token(.resource(rig.main))
            var labels: [String] = []
            var named: [String] = []
            var after: WalletID?
            repeat {
                let page = try await rig.ask(
                    ListWallets(namespace: rig.main, after: after), token: token
                ).reply
                #expect(page.wallets.count <= 100 && page.damaged.count <= 100)
                labels += page.wallets.map(\.label)
                named += page.damaged
                after = page.more ? page.wallets.last?.wallet : nil
            } while after != nil
            #expect(labels == (0..<250).filter { !damaged.contains($0) }.map { "\($0)" })
            #expect(named.count == namedCount)
            #expect(Set(named).count == namedCount)
        }
    }

    /// Writes 250 rows that nobody could open.
    @ServiceLoop
    private static func fill(_ database: Database, _ rig: Rig, damaged: [Int]) throws {
        for place in 0..<250 {
            let id = "\(10_000_000 + place)-2222-4333-8444-555555555555"
            try database.run(
                """
                INSERT INTO wallets (owner, namespace, wallet, kind, label, words, identity, mac)
                VALUES (?1, ?2, ?3, ?4, ?5, 12, randomblob(33), zeroblob(32))
                """, .text(rig.owner.text), .text(rig.main.text), .text(id),
                .text(damaged.contains(place) ? "later" : "bip39"), .text("\(place)"))
        }
    }
}
