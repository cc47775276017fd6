import AuthorityMessages
import Testing
import Tokens
import Wire

@testable import AuthorityCore

/// Which audience a scope may have, and which scope a peer may ask for.
struct SessionScopeRules {
    private static let sign = Scope.sign(.main, .first)
    private static let reveal = Scope.reveal(.main, .first)

    @Test(
        arguments: [
            (Scope.appUnlock, []), (.managePasscode, []), (.settings, []),
            (.settings, [.walletVault]), (.resource(.main), [.walletVault]),
            (.settings, [.backupShares]), (.settings, [.migration]),
            (.resource(.main), [.backupShares]), (.resource(.main), [.migration]),
            (.resource(.main), [.walletVault, .backupShares]),
            (.resource(.main), [.migration, .walletVault]),
            (sign, [.walletVault]), (reveal, [.walletVault]),
            (reveal, [.walletVault, .backupShares]), (reveal, [.backupShares, .walletVault]),
        ] as [(Scope, [ServiceName])])
    func theseGoTogether(_ scope: Scope, _ audience: [ServiceName]) {
        #expect(throws: Never.self) { try SessionRules.check(audience, for: scope) }
    }

    @Test(
        arguments: [
            (Scope.appUnlock, [.walletVault]), (.managePasscode, [.walletVault]),
            (.settings, [.credentialAuthority]), (.settings, [.walletVault, .backupShares]),
            (.resource(.main), []), (.resource(.main), [.migration, .backupShares]),
            (.resource(.main), [.walletVault, .backupShares, .migration]),
            (.resource(.main), [.credentialAuthority]), (.resource(.main), [.attemptLimiter]),
            (sign, []), (sign, [.walletVault, .backupShares]), (sign, [.backupShares]),
            (reveal, []),
            (reveal, [.backupShares]),
            (reveal, [.walletVault, .migration]), (reveal, [.walletVault, .walletVault]),
            (reveal, ServiceName.allCases),
        ] as [(Scope, [ServiceName])])
    func theseDoNot(_ scope: Scope, _ audience: [ServiceName]) {
        #expect(throws: BusFault.malformed) { try SessionRules.check(audience, for: scope) }
    }

    @Test func anExtensionGetsTheAppsLockAndNothingElse() {
        #expect(throws: Never.self) { try SessionRules.check(.appUnlock, for: .extension) }
        for scope in [Scope.managePasscode, .settings, .resource(.main), Self.sign, Self.reveal] {
            #expect(throws: BusFault.forbidden) {
                try SessionRules.check(scope, for: .extension)
            }
            #expect(throws: Never.self) { try SessionRules.check(scope, for: .app) }
        }
    }

    @Test func noPasscodeGivesARecovery() {
        #expect(throws: CredentialFault.notAuthorised) {
            try SessionRules.check(.recover, for: .app)
        }
    }

    @Test(arguments: [
        ("telegram.wallet.dek.v1", ServiceName.walletVault, true),
        ("coffer.wallet.identity.v1", .walletVault, true),
        ("coffer.backup.restoration.v1", .backupShares, true),
        ("telegram.wallet.dek.v1", .backupShares, false),
        ("coffer.backup.restoration.v1", .walletVault, false),
        ("coffer.wallet.identity.v1", .migration, false),
        ("coffer.attempt.confirm.v1", .walletVault, false), ("", .walletVault, false),
    ])
    func everyDomainBelongsToOneService(
        _ domain: String, _ service: ServiceName, _ belongs: Bool
    ) {
        #expect(KeyDomain.belongs(domain, to: service) == belongs)
    }

    @Test(
        arguments: [
            (1, "telegram.production.1"), (-1, "telegram.production.18446744073709551615"),
            (Int64.min, "telegram.production.9223372036854775808"),
        ] as [(Int64, String)])
    func aTelegramAccountHasItsNamespace(_ peer: Int64, _ name: String) {
        #expect(Namespace.telegram(.production, peer: peer).text == name)
        #expect(Namespace.telegram(.test, peer: 777_000).text == "telegram.test.777000")
    }
}
