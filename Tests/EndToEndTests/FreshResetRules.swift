import AuthorityMessages
import Glibc
import Home
import MigrationMessages
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// `coffer owner reset --fresh` over the real services: for an owner of whom nobody knows
    /// anything, and for nobody else.
    @Suite(.timeLimit(.minutes(3)))
    struct FreshResetRules {
        @Test func aFreshHomeIsResetAndTakesAPasscode() throws {
            let home = try TestHome()
            try home.admitCommand()
            let reset = try fresh(home)
            #expect(reset.status == 0, "\(reset.complaint)")
            #expect(try reset.object().string("done") == "reset")
            let client = try home.newClient("app")
            let status = try client.call(AskStatus()).reply
            #expect(status.credential != nil && status.kind == nil && status.removal == nil)
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            _ = try client.call(
                CreateWallet(namespace: main, label: "new", words: 12), token: token)
        }

        @Test func whoHasAPasscodeIsNotReset() throws {
            let home = try TestHome()
            try home.admitCommand()
            let client = try home.newClient("app")
            try owner(client)
            let before = try state(home)
            try expectKnown(to: ["credential-authority"], home)
            #expect(try state(home) == before)
            let token = try client.resourceToken("1234")
            #expect(
                try client.call(ListWallets(namespace: main), token: token).reply.wallets.count
                    == 1)
        }

        /// Stores that were lost leave one that still knows the owner; it is named, and kept.
        @Test(arguments: [ServiceName.attemptLimiter, .walletVault])
        func oneStoreThatIsLeftIsInTheWay(_ kept: ServiceName) throws {
            let home = try TestHome()
            try home.admitCommand()
            try owner(try home.newClient("app"))
            for service in TestHome.services { home.kill(service, SIGTERM) }
            for service in TestHome.services where service != kept {
                _ = try run(
                    builtProgram(service.text), ["purge", "local", "--home", home.home.path])
            }
            for service in TestHome.services { try home.start(service) }
            let before = try state(home)
            try expectKnown(to: [kept.text], home)
            #expect(try state(home) == before)
        }

        @Test(arguments: [
            (ServiceName.attemptLimiter, "credential.limiter_unreachable"),
            (.walletVault, "credential.vault_unreachable"),
        ])
        func aServiceThatIsAwayIsNoSign(_ away: ServiceName, _ code: String) throws {
            let home = try TestHome()
            try home.admitCommand()
            home.kill(away, SIGTERM)
            let refused = try fresh(home)
            #expect(refused.status == 6)
            let error = try refused.object().object("error")
            #expect(try error.string("code") == code)
            #expect(try error.string("outcome") == "rejected")
            let status = try home.newClient("app").call(AskStatus()).reply
            #expect(status.removal == nil && status.credential == nil)
            try home.start(away)
            // Its callers connect anew within a second or two.
            var again = try fresh(home)
            for _ in 1...20 where again.status == 6 {
                usleep(200_000)
                again = try fresh(home)
            }
            #expect(again.status == 0, "\(again.output)")
        }

        /// Begun, and then every service is killed and the ledger of migrations away.
        @Test func oneThatBrokeOffIsTakenUpAgain() throws {
            let home = try TestHome()
            try home.admitCommand()
            home.kill(.migration, SIGTERM)
            #expect(try fresh(home).status == 6)
            let client = try home.newClient("app")
            #expect(try client.call(AskStatus()).reply.removal == .reset)
            #expect(refusal { try client.setPasscode("1234") } == "credential.removing")
            for service in TestHome.services where service != .migration {
                try home.restart(service)
            }
            try home.start(.migration)
            #expect(try fresh(home).status == 0)
            try client.setPasscode("1234")
        }

        private func fresh(_ home: TestHome) throws -> CofferProcess.Ended {
            try CofferProcess(home: home.home)("owner", "reset", "--fresh", "--json")
        }

        private func expectKnown(to services: [String], _ home: TestHome) throws {
            let refused = try fresh(home)
            #expect(refused.status == 7)
            let shown = try refused.object()
            #expect(try shown.object("error").string("code") == "coffer.known_owner")
            #expect(try shown.strings("services") == services)
        }

        /// An owner with a passcode and a wallet.
        private func owner(_ client: Client) throws {
            try client.setPasscode("1234")
            let token = try client.resourceToken("1234")
            _ = try client.call(
                CreateWallet(namespace: main, label: "kept", words: 12), token: token)
        }

        /// What the three have, row by row; the services are stopped meanwhile.
        private func state(_ home: TestHome) throws -> [String] {
            for service in TestHome.services { home.kill(service, SIGTERM) }
            defer { for service in TestHome.services { try? home.start(service) } }
            let tables: [(ServiceName, [String])] = [
                (.credentialAuthority, ["credentials", "removals"]),
                (.attemptLimiter, ["owners", "ledgers"]),
                (.walletVault, ["wallets", "envelopes"]),
            ]
            let rows = try tables.flatMap { service, names in
                try names.map { try home.query(".dump \($0)", in: service) }
            }
            #expect(rows.contains { $0.contains("'local'") })
            #expect(!rows.contains { $0.contains("ERROR") })
            return rows
        }
    }
}
