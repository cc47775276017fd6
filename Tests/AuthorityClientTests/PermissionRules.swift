import AuthorityMessages
import Testing
import Tokens
import Wire

@testable import AuthorityClient

@Suite struct PermissionRules {
    private let main: Namespace
    private let spare: Namespace
    private let wallet: WalletID
    private let other: WalletID

    init() throws {
        main = try #require(Namespace("main"))
        spare = try #require(Namespace("spare"))
        wallet = try #require(WalletID("11111111-2222-4333-8444-555555555555"))
        other = try #require(WalletID("11111111-2222-4333-8444-555555555556"))
    }

    /// Every purpose against every scope: what is not listed is refused.
    @Test func aSessionOpensExactlyItsScope() {
        let scopes: [Scope] = [
            .appUnlock, .managePasscode, .settings, .recover, .resource(main), .resource(spare),
            .sign(main, wallet), .sign(main, other), .sign(spare, wallet), .reveal(main, wallet),
            .reveal(main, other), .reveal(spare, wallet),
        ]
        let allowed: [Purpose: [Scope]] = [
            .open: [.resource(main)],
            .sign: [.resource(main), .sign(main, wallet)],
            .reveal: [.reveal(main, wallet)],
            .settings: [.settings],
        ]
        for purpose in Purpose.allCases {
            let permission = Permission(purpose: purpose, namespace: main, wallet: wallet)
            for scope in scopes {
                let expected = allowed[purpose]?.contains(scope) == true
                #expect(
                    permission.isWithin(scope, origin: .passcode) == expected,
                    "\(purpose) within \(scope)")
            }
        }
    }

    @Test(arguments: [(Origin.passcode, true), (.device, false), (.unprotected, false)])
    func onlyThePasscodeAllowsDestruction(_ origin: Origin, _ isAllowed: Bool) {
        let permission = Permission(purpose: .settings, namespace: main, wallet: wallet)
        #expect(permission.isWithin(.settings, origin: origin) == isAllowed)
    }
}
