import AuthorityMessages
import Glibc
import Home
import LimiterMessages
import MigrationMessages
import Secrets
import SharesMessages
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// A reset destroys across the services, in its order, whatever is killed in between.
    @Suite(.timeLimit(.minutes(3)))
    struct ResetRules {
        private let begin = BeginRemoval(removalKind: .reset)

        @Test func aResetLeavesNoWalletAndNoPasscode() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            let removal = try begun(home, client)
            _ = try client.call(WipeOwner<Vault>(removal: removal))
            _ = try client.call(WipeOwner<Migration>(removal: removal))
            _ = try client.call(FinishRemoval(removal: removal))
            try expectReset(client)
        }

        @Test func aRemovalLeavesNothingInAnyService() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            _ = try client.call(
                CreateWallet(namespace: main, label: "gone", words: 12), token: token)
            let settings = try known(client.unlock("1234", scope: .settings, audience: []))
            let removal = try client.call(
                BeginRemoval(removalKind: .remove), token: settings
            ).reply.removal
            _ = try client.call(WipeOwner<Vault>(removal: removal))
            _ = try client.call(WipeOwner<Shares>(removal: removal))
            #expect(
                refusal { try client.call(FinishRemoval(removal: removal)) }
                    == "credential.wipe_outstanding")
            _ = try client.call(WipeOwner<Migration>(removal: removal))
            _ = try client.call(FinishRemoval(removal: removal))
            #expect(try client.call(AskStatus()).reply.credential == nil)
            #expect(try client.call(ListOwners<Authority>()).reply.owners.isEmpty)
            #expect(try client.call(ListOwners<Limiter>()).reply.owners.isEmpty)
            #expect(try client.call(ListOwners<Vault>()).reply.owners.isEmpty)
        }

        /// Each service is killed after each step, and the whole is retried.
        @Test func aResetIsFinishedWhateverIsKilled() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            let removal = try begun(home, client)
            try home.restart(.credentialAuthority)
            try home.restart(.walletVault)
            #expect(try client.call(begin).reply.removal == removal)
            _ = try client.call(WipeOwner<Vault>(removal: removal))
            try home.restart(.walletVault)
            _ = try client.call(WipeOwner<Vault>(removal: removal))
            _ = try client.call(WipeOwner<Migration>(removal: removal))
            try home.restart(.migration)
            _ = try client.call(WipeOwner<Migration>(removal: removal))
            try home.restart(.attemptLimiter)
            try home.restart(.credentialAuthority)
            _ = try client.call(FinishRemoval(removal: removal))
            try expectReset(client)
        }

        /// Nobody resets a credential that cannot be read; it is moved aside, and nothing is
        /// overwritten before.
        @Test func aDamagedCredentialIsMovedAsideByAPurge() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            _ = try client.call(
                CreateWallet(namespace: main, label: "gone", words: 12), token: token)
            home.kill(.credentialAuthority, SIGTERM)
            let store = home.home.storePath(of: .credentialAuthority)
            _ = try run("/usr/bin/sqlite3", [store, "UPDATE credentials SET record = x'7b7d'"])
            try home.start(.credentialAuthority)
            let damaged = "credential.damaged"
            #expect(refusal { try client.call(AskStatus()) } == damaged)
            #expect(refusal { try client.unlock("1234", scope: .settings) } == damaged)
            #expect(refusal { try client.setPasscode("5678") } == damaged)
            #expect(refusal { try client.call(begin) } == "credential.not_authorised")
            for service in TestHome.services { home.kill(service, SIGTERM) }
            #expect(
                try home.query("SELECT hex(record) FROM credentials", in: .credentialAuthority)
                    == "7B7D\n")
            for service in TestHome.services {
                _ = try run(
                    builtProgram(service.text), ["purge", "local", "--home", home.home.path])
            }
            for service in TestHome.services { try home.start(service) }
            #expect(try client.call(AskStatus()).reply.credential == nil)
            try client.setPasscode("5678")
            let fresh = try client.resourceToken("5678")
            #expect(try client.call(ListWallets(namespace: main), token: fresh).reply.wallets == [])
        }

        @Test func theVaultWipesOnlyWhatTheAuthorityHasBegun() throws {
            let home = try TestHome()
            let client = try home.newClient("app")
            let careful = try home.newClient("careful", mayDestroy: false)
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            _ = try client.call(
                CreateWallet(namespace: main, label: "", words: 12), token: token)
            let invented = WipeOwner<Vault>(
                removal: try known(RemovalID(KernelRandom().bytes(16))))
            #expect(refusal { try client.call(invented) } == "credential.no_removal")
            let settings = try known(client.unlock("1234", scope: .settings, audience: []))
            let removal = try client.call(begin, token: settings).reply.removal
            let wipe = WipeOwner<Vault>(removal: removal)
            #expect(refusal { try careful.call(wipe) } == "bus.forbidden")
            #expect(
                refusal { try client.call(FinishRemoval(removal: removal)) }
                    == "credential.wipe_outstanding")
        }

        /// An owner with a wallet, whose reset is begun.
        private func begun(_ home: TestHome, _ client: Client) throws -> RemovalID {
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            _ = try client.call(
                CreateWallet(namespace: main, label: "gone", words: 12), token: token)
            let settings = try known(client.unlock("1234", scope: .settings, audience: []))
            let reply = try client.call(begin, token: settings).reply
            #expect(reply.outstanding == [.walletVault, .migration])
            #expect(
                refusal { try client.call(ListWallets(namespace: main), token: token) }
                    == "session.ended")
            return reply.removal
        }

        private func expectReset(_ client: Client) throws {
            let status = try client.call(AskStatus()).reply
            #expect(status.credential != nil && status.kind == nil && status.removal == nil)
            try client.setPasscode("5678")
            let token = try client.resourceToken("5678")
            #expect(try client.call(ListWallets(namespace: main), token: token).reply.wallets == [])
        }
    }
}
