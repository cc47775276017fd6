import AuthorityMessages
import Loop
import Secrets
import Serving
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// How far a session of each scope reaches, and a peer of each role.
@Suite(.timeLimit(.minutes(1)))
struct ScopeReachRules {
    @Test func anUnlockOfTheAppOpensAndChangesNothing() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            let token = try await bench.token(.appUnlock, audience: [])
            let before = try #require(try bench.stored()).record.revision
            #expect(bench.service.registry.onlySession?.accessKey == nil)
            for purpose in Purpose.allCases {
                #expect(
                    try await bench.refusal(of: bench.derive(token, purpose, wallet: .first))
                        == "session.invalid")
            }
            let set = SetPasscode(passcodeKind: .digits4)
            for refused in [
                try await bench.refusal(set, token: token, secret: "5678"),
                try await bench.refusal(DisablePasscode(), token: token),
                try await bench.refusal(SetProtection(protection: false), token: token),
                try await bench.refusal(SetSignPolicy(policy: .session), token: token),
                try await bench.refusal(BeginRemoval(removalKind: .reset), token: token),
            ] { #expect(refused == "credential.not_authorised") }
            #expect(try #require(try bench.stored()).record.revision == before)
        }
    }

    /// Every purpose against every scope, where the owner's policy is the wider one: what is not
    /// listed is refused.
    @Test func onlyItsOwnScopeAllowsAPurpose() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            _ = try await bench.settingsToken()
            var claims = try #require(bench.service.registry.onlySession).claims
            let scopes: [Scope] = [
                .appUnlock, .managePasscode, .settings, .recover, .resource(.main),
                .resource(.side), .sign(.main, .first), .sign(.main, .second),
                .sign(.side, .first), .reveal(.main, .first), .reveal(.main, .second),
                .reveal(.side, .first),
            ]
            let allowed: [Purpose: [Scope]] = [
                .open: [.resource(.main)], .sign: [.resource(.main), .sign(.main, .first)],
                .reveal: [.reveal(.main, .first)], .settings: [],
            ]
            for purpose in Purpose.allCases {
                let request = Derive(
                    namespace: .main, domains: ["telegram.wallet.dek.v1"], purpose: purpose,
                    wallet: .first, holder: Peer.app.key)
                for scope in scopes {
                    claims.scope = scope
                    #expect(
                        SessionRules.allows(request, in: claims, signPolicy: .session)
                            == allowed[purpose]?.contains(scope), "\(purpose) within \(scope)")
                }
            }
        }
    }

    /// One passcode and one setting of protection for all of an owner's namespaces, and keys of its
    /// own for each.
    @Test func namespacesShareThePasscodeAndTheSettingAndNoKey() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.set()
            try await bench.set(owner: .other)
            let (main, side) = (
                try await bench.resourceToken(), try await bench.resourceToken(.side)
            )
            let theirs = try await bench.token(
                .resource(.main), audience: [.walletVault], owner: .other)
            var keys: Set<[UInt8]> = []
            for derived in [
                bench.derive(main), bench.derive(side, namespace: .side),
                bench.derive(theirs, owner: .other),
            ] { keys.insert(try await bench.answer(derived).attachments[0].bytes.open) }
            #expect(keys.count == 3)
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(SetProtection(protection: false), token: settings)
            for namespace in [Namespace.main, .side] {
                let open = OpenSession(scope: .resource(namespace), audience: [.walletVault])
                #expect(try await bench.refusal(open) == nil)
                #expect(
                    try await bench.refusal(open, owner: .other) == "credential.not_authorised")
            }
        }
    }

    @Test func extensionsReachTheUnlockAndTheStatusAlone() {
        let reached = AuthorityService.methods.filter { $0.callers.roles.contains(.extension) }
        #expect(Set(reached.map(\.name)) == [Verify.method, AskStatus.method])
    }
}
