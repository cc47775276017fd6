import AuthorityMessages
import Foundation
import HDKeys
import Home
import MigrationMessages
import Secrets
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// Legacy wallets come in once each, whatever is stopped or killed meanwhile.
    @Suite(.timeLimit(.minutes(5)))
    struct MigrationRules {
        private func keychain(_ count: Int, seed: UInt64 = 51) throws -> TestKeychain {
            var keychain = TestKeychain()
            try keychain.addListed(count, SeededRandom(seed: seed))
            return keychain
        }

        /// A file of the repository.
        private func file(_ name: String) throws -> String {
            let folder = URL(filePath: #filePath).deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "Legacy").path
            return String(
                decoding: TestFile.contents(of: folder + "/" + name), as: UTF8.self)
        }

        @Test func aKeychainThatOtherMeansMadeComesInUnderTheIdentitiesThatTheyTell() throws {
            let bytes = Array(try file("keychain.jsonl").utf8)
            let migrant = try Migrant(bytes)
            let first = try migrant.apply(.mainnet)
            let second = try migrant.apply(.testnet)
            #expect(first.state == .finished && second.state == .finished)
            #expect(first.failed == 0 && second.failed == 0)
            let expected = try file("identities").split(separator: "\n").compactMap { line in
                line.split(separator: " ").last.flatMap { Hex.decode(String($0)) }
            }
            #expect(!expected.isEmpty)
            #expect(
                try migrant.identities()
                    == expected.sorted { $0.lexicographicallyPrecedes($1) })
            #expect(second.settled && second.counts.orphaned > 0)
            #expect(try migrant.status().sources.first?.done == true)
            #expect(try migrant.verify(.mainnet).succeeded == first.succeeded)
            #expect(try migrant.verify(.testnet).succeeded == second.succeeded)
            #expect(TestFile.contents(of: migrant.path.text) == bytes)
        }

        @Test func everyClassIsTreatedAsThePlanSays() throws {
            var keychain = try keychain(3)
            keychain.add(wallet: "aa", "named by nobody")
            keychain.add(wallet: "bb", "of a devnet")
            keychain.list(["bb"], on: "261d8d7")
            let migrant = try Migrant(keychain)
            #expect(
                try migrant.plan().counts
                    == ClassCounts(listed: 3, orphaned: 1, unknownChain: 1))
            #expect(try migrant.plan().launch == .pending)
            let run = try migrant.apply()
            #expect(run.counts == ClassCounts(inLedger: 3, orphaned: 1, unknownChain: 1))
            let source = try known(migrant.status().sources.first)
            #expect(!source.done && source.deferredUnknownChain && !source.deferredFailure)
            #expect(try migrant.identities() == keychain.identities())

            // The same keychain with a list that cannot be read: what was orphaned is undetermined.
            keychain.add("CHAIN_WALLETS_KEY_2cbcf83", Array("damage".utf8))
            TestFile.write(keychain.bytes(), to: migrant.path.text)
            let torn = try migrant.apply()
            #expect(torn.counts == ClassCounts(inLedger: 3, undetermined: 1, unknownChain: 1))
            #expect(try known(migrant.status().sources.first).deferredFailure)
            #expect(try migrant.status().sources.count == 2)
            #expect(try migrant.identities() == keychain.identities())
        }

        @Test func aStoppedRunGoesOnWhereItWas() throws {
            let keychain = try keychain(60)
            let migrant = try Migrant(keychain, .xml)
            let run = try migrant.begin()
            try migrant.wait(for: run, done: 5)
            _ = try migrant.client.call(StopRun(run: run))
            let stopped = try migrant.wait(for: run)
            #expect(stopped.state == .stopped && stopped.succeeded < 60)
            let rest = try migrant.apply()
            #expect(rest.total == 60 - stopped.succeeded && rest.settled)
            #expect(try migrant.identities() == keychain.identities())
        }

        @Test(arguments: [ServiceName.migration, .walletVault, .credentialAuthority])
        func everyWalletIsThereOnceWhateverIsKilledInTheMiddle(_ service: ServiceName) throws {
            let keychain = try keychain(120)
            let bytes = keychain.bytes()
            let migrant = try Migrant(keychain)
            for done in [3, 20, 31] as [UInt64] {
                let run = try migrant.begin()
                try migrant.wait(for: run, done: done)
                try migrant.home.restart(service)
                if service != .migration {
                    let state = try migrant.wait(for: run).state
                    #expect(state != .running && state != .stopped)
                }
            }
            let last = try migrant.applyUntilFinished()
            #expect(last.settled && last.failed == 0)
            #expect(try migrant.identities() == keychain.identities())
            #expect(try migrant.status().mainnet == 120)
            #expect(try migrant.verify().succeeded == 120)
            #expect(TestFile.contents(of: migrant.path.text) == bytes)
        }

        @Test func aRunWithoutAVaultEndsAndTellsWhy() throws {
            let keychain = try keychain(5)
            let migrant = try Migrant(keychain)
            let token = try migrant.token()
            migrant.home.kill(.walletVault)
            let run = try migrant.begin(token: token)
            #expect(
                try migrant.wait(for: run).state
                    == .failed(code: "migration.vault_unreachable"))
            try migrant.home.start(.walletVault)
            #expect(try migrant.apply().settled)
            #expect(try migrant.identities() == keychain.identities())
        }

        @Test func aWalletThatCameInBeforeItCouldBeNotedIsNotBroughtTwice() throws {
            let keychain = try keychain(4)
            let migrant = try Migrant(keychain)
            let wallet = keychain.wallets[1]
            let bring = ImportWallet(
                namespace: migrant.dash, label: "mine", walletKind: .dash, network: .mainnet,
                expected: wallet.sdkID)
            _ = try migrant.client.call(
                bring, token: migrant.token(), secrets: [secret(wallet.phrase.text)])
            let run = try migrant.apply()
            #expect(run.succeeded == 4 && run.settled)
            #expect(try migrant.identities() == keychain.identities())
            #expect(try migrant.verify().succeeded == 4)
        }

        @Test func aWalletThatTheVaultLostComesInAgainWhereItIsWanted() throws {
            let keychain = try keychain(5)
            let migrant = try Migrant(keychain)
            #expect(try migrant.apply().settled)
            let page = try migrant.client.call(
                ListWallets(namespace: migrant.dash), token: migrant.token()
            ).reply
            let lost = try known(page.wallets.first)
            let settings = try migrant.token(.settings, audience: [.walletVault])
            _ = try migrant.client.call(
                RemoveWallet(namespace: migrant.dash, wallet: lost.wallet), token: settings)
            // An app that applies at each start leaves it removed, and is not held up.
            #expect(try migrant.apply().total == 0)
            #expect(try migrant.identities().count == 4)
            let verified = try migrant.verify()
            #expect(verified.succeeded == 4)
            #expect(verified.failures.map(\.code) == ["vault.no_such_wallet"])
            #expect(verified.failures.map(\.id) == [lost.label])
            let plan = try migrant.plan()
            #expect(plan.launch == .absent && plan.counts.missing == 1)
            #expect(
                plan.wallets.filter { $0.reason == .missing }.map(\.id) == [lost.label])

            try migrant.home.restart(.migration)
            let again = try migrant.apply(again: true)
            #expect(again.succeeded == 1 && again.again == 1 && again.settled)
            #expect(try migrant.identities() == keychain.identities())
            #expect(try migrant.verify().succeeded == 5)
            #expect(try migrant.plan().counts == ClassCounts(inLedger: 5))
        }

        @Test func aHostileSourceIsRefusedAndHoldsNobodyUp() throws {
            let row = SharedRows.Row(
                account: "CHAIN_WALLETS_KEY_b67a40f",
                value: [UInt8](repeating: 0x61, count: 600_000), count: 1_000)
            let migrant = try Migrant(SharedRows.list([row]))
            let plan = PlanMigration(source: migrant.path)
            #expect(
                refusal { try migrant.client.call(plan, timeout: 120_000) }
                    == "migration.source_too_large")
            #expect(
                refusal { try migrant.begin() } == "migration.source_too_large")
            let launch = AskLaunchState(source: migrant.path)
            #expect(
                try migrant.client.call(launch, timeout: 120_000).reply.launch == .unreadable)
            #expect(try migrant.status().sources.isEmpty)
        }

        @Test func lockingEndsARun() throws {
            let keychain = try keychain(80)
            let migrant = try Migrant(keychain)
            let run = try migrant.begin()
            try migrant.wait(for: run, done: 5)
            _ = try migrant.client.call(Lock())
            let ended = try migrant.wait(for: run)
            #expect(ended.state == .failed(code: "session.ended"))
            #expect(ended.counts.inLedger == ended.succeeded)
            #expect(try migrant.applyUntilFinished().settled)
            #expect(try migrant.identities() == keychain.identities())
        }

        @Test func twoOwnersTakeTheSameSourceInEachForHimself() throws {
            let keychain = try keychain(6)
            let migrant = try Migrant(keychain)
            let second = try known(Owner("second"))
            _ = try migrant.client.call(
                SetPasscode(passcodeKind: .digits4), owner: second, secrets: [secret("5678")])
            #expect(try migrant.apply().settled)
            #expect(try migrant.status(of: second).mainnet == 0)
            let answer = try migrant.client.call(
                Verify(scope: .resource(migrant.dash), audience: [.walletVault, .migration]),
                owner: second, secrets: [secret("5678")])
            let theirs = try known(answer.attachments.first).bytes.withBytes { Array($0) }
            let request = ApplyMigration(
                source: migrant.path, network: .mainnet, namespace: migrant.dash)
            // A session of the one owner is none for the other.
            #expect(
                refusal {
                    try migrant.client.call(request, owner: second, token: migrant.token())
                } == "session.invalid")
            let run = try migrant.client.call(request, owner: second, token: theirs).reply.run
            #expect(refusal { try migrant.follow(run) } == "migration.no_such_run")
            while try migrant.client.call(FollowRun(run: run), owner: second).reply.state
                == .running
            {
                usleep(5_000)
            }
            #expect(try migrant.status(of: second).mainnet == 6)
            #expect(
                try migrant.identities(owner: second, token: theirs) == keychain.identities())
            #expect(try migrant.identities() == keychain.identities())
        }

        @Test func aSessionOfAnotherScopeOrAudienceTakesNothingIn() throws {
            let migrant = try Migrant(keychain(2))
            let request = ApplyMigration(
                source: migrant.path, network: .mainnet, namespace: migrant.dash)
            let verify = VerifyMigration(
                source: migrant.path, network: .mainnet, namespace: migrant.dash)
            let refused: [([UInt8], String)] = [
                (try migrant.token(.resource(main)), "lease.not_authorised"),
                (try migrant.token(audience: [.walletVault]), "session.invalid"),
                (try migrant.token(audience: [.migration]), "session.invalid"),
                (try migrant.token(.settings, audience: [.migration]), "lease.not_authorised"),
            ]
            for (token, code) in refused {
                #expect(refusal { try migrant.client.call(request, token: token) } == code)
                #expect(refusal { try migrant.client.call(verify, token: token) } == code)
            }
            #expect(try migrant.status().sources.isEmpty)
            // The token is bound to the key that asked for it.
            let other = try migrant.home.newClient("other")
            let token = try migrant.token()
            #expect(refusal { try other.call(request, token: token) } == "session.invalid")
            #expect(try migrant.identities().isEmpty)
            let engine = try migrant.home.newClient("engine", role: .engine)
            #expect(refusal { try engine.call(request, token: token) } == "bus.forbidden")
        }

        @Test func aRunLeavesOneLineOfNumbersAndNoLogNamesAnything() throws {
            var keychain = try keychain(12)
            keychain.add(wallet: "f00dfeed", "no phrase at all")
            keychain.list(["f00dfeed"], on: "b67a40f")
            let migrant = try Migrant(keychain)
            _ = try migrant.apply()
            _ = try migrant.verify()
            let log = migrant.log(of: .migration)
            let lines = log.split(separator: "\n").filter { $0.contains("\"event\":\"run\"") }
            #expect(lines.count == 2)
            let line = try JSONDocument(Array(try known(lines.first).utf8)).object()
            #expect(try line.string("aim") == "apply")
            #expect(try line.string("ending") == "finished")
            #expect(try line.integer("succeeded") == 12)
            #expect(try line.integer("failed") == 1)
            #expect(try line.integer("in_ledger") == 12)
            #expect(try line.integer("listed") == 1)
            #expect(try line.string("settled") == "no")

            var names = [migrant.path.text, migrant.dash.text, "f00dfeed", "\"local\""]
            for wallet in keychain.wallets {
                let words = wallet.phrase.text.split(separator: " ")
                names += [wallet.id, Hex.encode(wallet.sdkID)]
                names += zip(words, words.dropFirst()).map { "\($0) \($1)" }
            }
            for service in TestHome.services {
                let log = migrant.log(of: service)
                for name in names { #expect(!log.contains(name), "\(service.text) names it") }
            }
        }
    }
}
