import AuthorityMessages
import Loop
import Secrets
import Serving
import TestKit
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// What a session is that a hardware token opens, and when there is none.
@Suite(.timeLimit(.minutes(1)))
struct DeviceSessionRules {
    @Test func itDerivesWhatThePasscodeDerives() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            let byPasscode = try await bench.answer(
                bench.derive(try await bench.resourceToken()))
            _ = try await bench.ask(Lock())
            let token = try await bench.deviceToken()
            let byToken = try await bench.answer(bench.derive(token))
            #expect(byToken.attachments[0].bytes.open == byPasscode.attachments[0].bytes.open)
            let session = try #require(bench.service.registry.allSessions.first)
            #expect(session.claims.origin == .device)
            #expect(session.claims.scope == .resource(.main))
        }
    }

    @Test func itIsNeverPromoted() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            for scope in [
                Scope.settings, .managePasscode, .appUnlock, .recover, .sign(.main, .first),
                .reveal(.main, .first),
            ] {
                let audience: [ServiceName] = scope.namespace == nil ? [] : [.walletVault]
                #expect(
                    try await bench.refusal(
                        OpenDeviceSession(scope: scope, audience: audience), secret: "4321")
                        == "credential.not_authorised")
            }
            let token = try await bench.deviceToken()
            for refused in [
                try await bench.refusal(
                    SetPasscode(passcodeKind: .digits4), token: token, secret: "5678"),
                try await bench.refusal(DisablePasscode(), token: token),
                try await bench.refusal(SetProtection(protection: false), token: token),
                try await bench.refusal(SetSignPolicy(policy: .session), token: token),
                try await bench.refusal(BeginRemoval(removalKind: .reset), token: token),
                try await bench.refusal(RemoveDeviceKey(lost: true), token: token),
                try await bench.enrolRefusal(FakeTokens.second, session: token),
                try await bench.refusal(of: bench.derive(token, .settings, domains: [])),
                try await bench.refusal(of: bench.derive(token, .sign, wallet: .first)),
                try await bench.refusal(of: bench.derive(token, .reveal, wallet: .first)),
                try await bench.refusal(of: bench.derive(token, namespace: .side)),
            ] { #expect(refused == "credential.not_authorised") }
        }
    }

    @Test(arguments: [Peer.extension, .operator, .vault])
    func othersThanAppsGetNone(_ peer: Peer) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            #expect(
                try await bench.refusal(Bench.opening, as: peer, secret: "4321")
                    == "bus.forbidden")
        }
    }

    @Test func nothingThatGoesWrongIsAnAttempt() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            let asked = bench.way.asked.count
            for fault in DeviceKeyFault.allCases {
                bench.tokens.mishaps = [(.release, .fails(fault))]
                #expect(try await bench.deviceRefusal() == fault.rawValue)
            }
            for _ in 0..<8 {
                #expect(try await bench.deviceRefusal(pin: "0000") == "device_key.wrong_pin")
                #expect(try await bench.deviceRefusal(pin: nil) == "device_key.pin_needed")
            }
            bench.tokens.mishaps = [(.release, .liesAboutKey)]
            #expect(try await bench.deviceRefusal() == "device_key.mismatch")
            #expect(bench.way.asked.count == asked)
            #expect(try bench.failed() == 0)
            #expect(try await bench.ask(AskStatus()).reply.tries.isEmpty)
            #expect(try await bench.unlock("1234").isVerified)
            #expect(try await bench.deviceRefusal() == nil)
        }
    }

    @Test func aLostOrClearedTokenLeavesThePasscode() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            bench.tokens.tokens[FakeTokens.first]?.objects = [:]
            #expect(try await bench.deviceRefusal() == "device_key.no_object")
            bench.tokens.tokens[FakeTokens.first] = nil
            #expect(try await bench.deviceRefusal() == "device_key.no_token")
            _ = try await bench.answer(bench.derive(try await bench.resourceToken()))
            // A new one takes its place, though nothing can be deleted on the lost one.
            #expect(try await bench.enrolRefusal(FakeTokens.second) == nil)
            #expect(try await bench.deviceRefusal() == nil)
            #expect(try await bench.route().waiting == [FakeTokens.first])
            let settings = try await bench.settingsToken()
            _ = try await bench.ask(RemoveDeviceKey(lost: true), token: settings)
            #expect(try await bench.route() == .init(token: nil, form: nil, waiting: []))
        }
    }

    /// What may happen while a token takes its time.
    enum Meanwhile: CaseIterable {
        case passcodeChanged
        case protectionTurnedOff
        case passcodeDisabled
        case locked
        case routeRemoved
        case resetBegun
    }

    @Test(arguments: Meanwhile.allCases)
    func aSlowTokenOpensNothingOnceTheCredentialMovedOn(_ event: Meanwhile) async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            let settings = try await bench.settingsToken()
            bench.tokens.heldAct = .release
            let opening = bench.post(Bench.opening, secret: "4321")
            try await bench.run { bench.tokens.heldCount == 1 }
            let refused: String?
            switch event {
            case .passcodeChanged:
                refused = try await bench.refusal(
                    SetPasscode(passcodeKind: .digits4), token: settings, secret: "5678")
            case .protectionTurnedOff:
                refused = try await bench.refusal(
                    SetProtection(protection: false), token: settings)
            case .passcodeDisabled:
                refused = try await bench.refusal(DisablePasscode(), token: settings)
            case .locked: refused = try await bench.refusal(Lock())
            case .routeRemoved:
                // The token is in use, so that this one waits for its turn.
                #expect(
                    try await bench.refusal(RemoveDeviceKey(lost: true), token: settings)
                        == "device_key.busy")
                refused = nil
            case .resetBegun:
                refused = try await bench.refusal(
                    BeginRemoval(removalKind: .reset), token: settings)
            }
            #expect(refused == nil)
            bench.tokens.letGo()
            #expect(
                try await bench.refusal(of: opening)
                    == (event == .routeRemoved ? nil : "credential.stale"))
            guard event != .routeRemoved else { return }
            #expect(
                bench.service.registry.allSessions.allSatisfy { $0.claims.origin != .device })
        }
    }

    @Test func oneTokenAtATimeAndOwnersApart() async throws {
        try await LoopHarness.run {
            let bench = try Bench()
            try await bench.enrolled()
            try await bench.set("5678", owner: .other)
            bench.tokens.heldAct = .release
            let opening = bench.post(Bench.opening, secret: "4321")
            try await bench.run { bench.tokens.heldCount == 1 }
            #expect(try await bench.deviceRefusal() == "device_key.busy")
            #expect(
                try await bench.refusal(Bench.opening, owner: .other, secret: "4321")
                    == "device_key.none")
            #expect(try await bench.unlock("5678", owner: .other).isVerified)
            bench.tokens.letGo()
            #expect(try await bench.refusal(of: opening) == nil)
            #expect(
                try await bench.ask(AskDeviceKey(), owner: .other).reply
                    == .init(token: nil, form: nil, waiting: []))
        }
    }
}
