import AuthorityDouble
import Loop
import Secrets
import Serving
import SharesMessages
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import SharesCore

/// Who keeps shares is an owner's to say, with the passcode.
@Suite(.timeLimit(.minutes(1)))
struct HolderRules {
    @Test(arguments: [".", "..", ".coffer-part-x", "", "a b", "ä"])
    func namesThatAFileMustNotHaveAreNone(_ name: String) {
        #expect(HolderName(name) == nil)
        #expect(HolderName("x" + name.filter { $0 == "." }) != nil)
    }

    @Test func holdersAreListedByName() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            for index in [2, 0, 1] { try await rig.add(rig.holders[index]) }
            let listed = try await rig.ask(ListHolders()).reply.holders
            #expect(listed.map(\.name.text) == ["anna", "boris", "cleo"])
            #expect(listed.map(\.publicKey) == rig.holders.prefix(3).map(\.publicKey))
            #expect(listed.allSatisfy { $0.added == 1_700_000_000 })
            #expect(try await rig.ask(ListHolders(), owner: rig.other).reply.holders == [])
        }
    }

    @Test func theSameAgainChangesNothingAndAnotherKeyIsRefused() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let first = try await rig.add(rig.holders[0])
            #expect(try await rig.add(rig.holders[0]) == first)
            let other = AddHolder(
                name: rig.holders[0].name, publicKey: rig.holders[1].publicKey)
            #expect(
                try await rig.refusal(other, token: rig.settings()) == "shares.holder_exists")
            #expect(try await rig.ask(ListHolders()).reply.holders == [first])
        }
    }

    /// Two keys that differ in the sign alone have the same owner.
    @Test(arguments: [UInt8(0), 0x80]) func aKeyIsOneHolders(_ sign: UInt8) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.add(rig.holders[0])
            var key = rig.holders[0].publicKey
            key[31] ^= sign
            let again = AddHolder(name: rig.holders[1].name, publicKey: key)
            #expect(try await rig.refusal(again, token: rig.settings()) == "shares.invalid_key")
            // Another owner may know the same person.
            try await rig.add(rig.holders[0], owner: rig.other)
        }
    }

    /// Keys with which everybody agrees on the same secret, one that is no point, and one that is
    /// written with a number beyond the modulus.
    @Test(arguments: [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0200000000000000000000000000000000000000000000000000000000000000",
    ])
    func aKeyThatNobodyCanHaveIsRefused(_ key: String) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let request = AddHolder(
                name: rig.holders[0].name, publicKey: try #require(Hex.decode(key)))
            #expect(try await rig.refusal(request, token: rig.settings()) == "shares.invalid_key")
        }
    }

    @Test func whoIsRemovedIsGoneAndCanComeAgain() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.add(rig.holders[0])
            let remove = RemoveHolder(name: rig.holders[0].name)
            try await rig.ask(remove, token: rig.settings())
            #expect(try await rig.ask(ListHolders()).reply.holders == [])
            #expect(
                try await rig.refusal(remove, token: rig.settings()) == "shares.no_such_holder")
            try await rig.add(rig.holders[0])
        }
    }

    @Test func thereAreOnlySoMany() async throws {
        try await LoopHarness.run {
            var limits = SharesLimits()
            limits.holders = 3
            let rig = try Rig(limits: limits)
            try await rig.addHolders()
            let fourth = AddHolder(
                name: rig.holders[3].name, publicKey: rig.holders[3].publicKey)
            #expect(try await rig.refusal(fourth, token: rig.settings()) == "shares.full")
            // What is there already needs no room.
            try await rig.add(rig.holders[2])
        }
    }

    @Test func itTakesASettingsSessionOfPasscodeOrigin() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let add = AddHolder(name: rig.holders[0].name, publicKey: rig.holders[0].publicKey)
            let remove = RemoveHolder(name: rig.holders[0].name)
            let wrong = [
                (try rig.resource(), "lease.not_authorised"),
                (try rig.token(.settings, origin: .unprotected), "lease.not_authorised"),
                (try rig.token(.appUnlock), "lease.not_authorised"),
                (try rig.token(.settings, audience: [.walletVault]), "session.invalid"),
                (try rig.token(.settings, holder: rig.second), "session.invalid"),
                (try rig.token(.settings, owner: rig.other), "session.invalid"),
                ([], "session.invalid"),
            ]
            for (token, code) in wrong {
                #expect(try await rig.refusal(add, token: token) == code)
                #expect(try await rig.refusal(remove, token: token) == code)
            }
            let token = try rig.token(.settings, holder: rig.engine)
            #expect(try await rig.refusal(add, from: rig.engine, token: token) == "bus.forbidden")
            #expect(try await rig.refusal(ListHolders(), from: rig.engine) == "bus.forbidden")
            #expect(try await rig.ask(ListHolders()).reply.holders == [])
        }
    }

    @Test func aSessionThatEndedInBetweenAddsNobody() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let (token, session) = try rig.authority.open(
                .settings, for: rig.owner, holder: rig.app.key, audience: [.backupShares])
            rig.authority.onTheWay = { method in
                if method == "authority.derive" { rig.authority.end(session) }
            }
            let add = AddHolder(name: rig.holders[0].name, publicKey: rig.holders[0].publicKey)
            #expect(try await rig.refusal(add, token: token) == "session.ended")
            #expect(try await rig.ask(ListHolders()).reply.holders == [])
        }
    }

    @Test func theLongestListFitsInAReply() throws {
        let name = try #require(HolderName(String(repeating: "x", count: 64)))
        let holder = HolderDescription(
            name: name, publicKey: [UInt8](repeating: 255, count: 32), added: 1 << 53)
        let all = ListHolders.Reply(
            holders: Array(repeating: holder, count: SharesLimits().holders))
        #expect(all.encoded().count < 65_536)
    }
}
