import Glibc
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
    /// The wallets of a legacy app come in once, whatever is interrupted, killed or locked.
    ///
    /// The real command, real services.
    @Suite(.timeLimit(.minutes(5)))
    struct MigrateCommandRules {
        private static let passcode = "1234"

        /// An installation with a passcode, and a source beside it.
        private struct Scene {
            let home: TestHome
            let client: Client
            let keychain: TestKeychain
            let source: String

            init(mainnet: Int, testnet: Int, seed: UInt64) throws {
                home = try TestHome()
                try home.admitCommand()
                client = try home.newClient("app")
                try client.setPasscode(MigrateCommandRules.passcode)
                var keychain = TestKeychain()
                let random = SeededRandom(seed: seed)
                try keychain.addListed(mainnet, on: .mainnet, random)
                try keychain.addListed(testnet, on: .testnet, random)
                // One that was reset in the app.
                keychain.add(wallet: "aa", "named by nobody")
                self.keychain = keychain
                source = home.home.path + "/keychain.plist"
                TestFile.write(keychain.bytes(), to: source)
            }

            /// The command over the source, while it runs.
            func start(_ words: String..., onTerminal: Bool = false) throws -> LiveCommand {
                try LiveCommand(
                    ["migrate"] + words + [source], home: home.home,
                    passcode: MigrateCommandRules.passcode, onTerminal: onTerminal)
            }

            /// The command over the source, to its end.
            func run(_ verb: String) throws -> CofferProcess.Ended { try start(verb).end() }

            /// Removes a wallet of the main network, which bears its legacy id as label.
            func remove(_ id: String) throws -> CofferProcess.Ended {
                try CofferProcess(home: home.home).run(
                    ["wallet", "remove", id, "--namespace", "dash.mainnet", "--yes"],
                    secrets: [("--passcode-fd", MigrateCommandRules.passcode)])
            }

            /// The command without a passcode.
            func ask(_ words: String...) throws -> CofferProcess.Ended {
                try CofferProcess(home: home.home).run(words)
            }

            /// The identities in a namespace of the vault, as often as they are there.
            func vault(_ network: WalletNetwork) throws -> [[UInt8]] {
                let namespace = try known(Namespace("dash.\(network.text)"))
                let token = try known(
                    client.unlock(MigrateCommandRules.passcode, scope: .resource(namespace)))
                var wallets: [WalletDescription] = []
                while true {
                    let page = try client.call(
                        ListWallets(namespace: namespace, after: wallets.last?.wallet),
                        token: token
                    ).reply
                    wallets += page.wallets
                    guard page.more else { return wallets.map(\.identity) }
                }
            }

            /// Waits until the migration says something of itself.
            func wait(for isSo: (AskMigrationStatus.Reply) -> Bool) throws {
                for _ in 0..<2_000 {
                    if isSo(try client.call(AskMigrationStatus()).reply) { return }
                    usleep(5_000)
                }
                throw TestError("the migration does not get so far")
            }

            /// Whether the vault has all wallets of the source, each once, and nothing else.
            func isComplete() throws -> Bool {
                try sorted(vault(.mainnet)) == keychain.identities(.mainnet)
                    && sorted(vault(.testnet)) == keychain.identities(.testnet)
            }

            private func sorted(_ identities: [[UInt8]]) -> [[UInt8]] {
                identities.sorted { $0.lexicographicallyPrecedes($1) }
            }
        }

        /// Whether a line tells that some wallets are in and others are not.
        private static func isUnderWay(_ said: String) -> Bool {
            said.matches(of: #/: (\d+) of (\d+) wallets?/#).contains { $0.1 != "0" && $0.1 != $0.2 }
        }

        @Test func anInterruptedRunGoesOnWhereItWasAndEndsComplete() throws {
            let scene = try Scene(mainnet: 120, testnet: 2, seed: 1)
            let first = try scene.start("apply")
            try first.wait(for: Self.isUnderWay)
            first.signal(SIGINT)
            let interrupted = try first.end()
            #expect(interrupted.status == 130)
            #expect(interrupted.complaint.contains("the run is stopped"))
            #expect(interrupted.complaint.contains("`coffer migrate apply` goes on from here"))
            let taken = try scene.vault(.mainnet).count
            #expect(taken > 0 && taken < 120)
            #expect(interrupted.complaint.contains("Main network: \(taken) of 120 wallets taken"))

            let second = try scene.run("apply")
            #expect(second.status == 0)
            #expect(second.output.contains("Main network: \(120 - taken) of \(120 - taken) wallet"))
            #expect(second.output.contains("Test network: 2 of 2 wallets taken in"))
            #expect(try scene.isComplete())

            let verified = try scene.run("verify")
            #expect(verified.status == 0)
            #expect(verified.output.contains("Main network: 120 of 120 wallets verified"))
            let third = try scene.run("apply")
            #expect(third.status == 0)
            #expect(third.output.contains("Every wallet of the source is settled"))
            #expect(try scene.isComplete())
            #expect(TestFile.contents(of: scene.source) == scene.keychain.bytes())
        }

        @Test func aTerminationStopsTheRunTooAndIsToldApart() throws {
            let scene = try Scene(mainnet: 120, testnet: 0, seed: 7)
            let first = try scene.start("apply", "--json")
            try scene.wait { $0.mainnet > 0 }
            first.signal(SIGTERM)
            let end = try first.end()
            #expect(end.status == 128 + SIGTERM)
            #expect(end.complaint == "")
            let error = try end.object().object("error")
            #expect(try error.string("code") == "coffer.interrupted")
            #expect(try scene.client.call(AskMigrationStatus()).reply.running == nil)
        }

        @Test func onATerminalOneLineTellsHowFarItIs() throws {
            let scene = try Scene(mainnet: 3, testnet: 1, seed: 2)
            let end = try scene.start("apply", onTerminal: true).end()
            #expect(end.status == 0)
            #expect(end.complaint.contains("\rMain network: 3 of 3 wallets"))
            #expect(!end.complaint.contains("\n"))
            #expect(end.output.contains("Every wallet of the source is settled"))
            #expect(try scene.isComplete())
        }

        @Test func aRunWhoseCommandWasKilledIsShownStoppedAndTakenUp() throws {
            let scene = try Scene(mainnet: 250, testnet: 0, seed: 3)
            let first = try scene.start("apply")
            try first.wait(for: Self.isUnderWay)
            first.signal(SIGKILL)
            #expect(try first.end().status == -SIGKILL)
            let status = try scene.ask("migrate", "status")
            #expect(status.status == 0)
            #expect(status.output.contains("A run is under way"))
            let busy = try scene.run("apply")
            #expect(busy.status == 7)
            #expect(busy.complaint.contains("`coffer migrate stop`"))
            #expect(try scene.ask("migrate", "stop").output.contains("told to stop"))
            try scene.wait { $0.running == nil }
            #expect(try scene.run("apply").status == 0)
            #expect(try scene.isComplete())
        }

        @Test func aServiceThatIsKilledOnTheWayCostsNoWallet() throws {
            let scene = try Scene(mainnet: 120, testnet: 0, seed: 4)
            let first = try scene.start("apply")
            try first.wait(for: Self.isUnderWay)
            try scene.home.restart(.migration)
            let end = try first.end()
            #expect(end.status == 0, "\(end.complaint)")
            #expect(end.output.contains("Main network: 120 of 120 wallets taken in"))
            #expect(try scene.isComplete())
        }

        @Test func lockingEndsTheRun() throws {
            let scene = try Scene(mainnet: 120, testnet: 0, seed: 5)
            let first = try scene.start("apply")
            try first.wait(for: Self.isUnderWay)
            #expect(try scene.ask("lock").status == 0)
            let end = try first.end()
            #expect(end.status == 5)
            #expect(end.complaint.contains("The owner was locked"))
            #expect(try scene.vault(.mainnet).count < 120)
            #expect(try scene.run("apply").status == 0)
            #expect(try scene.isComplete())
        }

        @Test func aWalletThatWasRemovedOrDoesNotOpenIsMendedAsVerifySays() throws {
            let scene = try Scene(mainnet: 3, testnet: 0, seed: 8)
            #expect(try scene.run("apply").status == 0)
            let ids = scene.keychain.wallets.map(\.id)
            #expect(try scene.remove(ids[0]).status == 0)
            let lost = try scene.run("verify")
            #expect(lost.status == 9)
            #expect(lost.output.contains("NOT verified: 1 of 3 wallets"))
            #expect(lost.output.contains("`coffer migrate apply`"))
            let plan = try scene.ask("migrate", "plan", scene.source).output
            #expect(plan.contains("1 of these not in the vault any more"))
            #expect(plan.contains("launch absent"))
            let again = try scene.run("apply")
            #expect(again.status == 0)
            #expect(again.output.contains("1 of 1 wallet taken in (namespace dash.mainnet), 1 of"))
            #expect(try scene.isComplete())
            #expect(try scene.run("verify").status == 0)

            let wallet = try scene.home.query(
                "SELECT wallet FROM wallets WHERE label = '\(ids[1])'", in: .walletVault)
            let name = wallet.filter { !$0.isWhitespace }
            try scene.home.tamper(
                "UPDATE envelopes SET document = X'00' WHERE ref LIKE '%\(name)%'",
                in: .walletVault)
            let damaged = try scene.run("verify")
            #expect(damaged.status == 9)
            #expect(damaged.output.contains("`coffer wallet remove`"))
            // It is there, so it does not come in again by itself.
            #expect(try scene.run("apply").status == 0)
            #expect(try scene.run("verify").status == 9)
            #expect(try scene.remove(ids[1]).status == 0)
            #expect(try scene.run("apply").status == 0)
            #expect(try scene.isComplete())
            #expect(try scene.run("verify").status == 0)
        }

        @Test func whatCannotBeReadIsToldWithoutAPasscode() throws {
            let scene = try Scene(mainnet: 1, testnet: 0, seed: 6)
            let plan = try scene.ask("migrate", "plan", scene.source)
            #expect(plan.status == 0)
            #expect(plan.output.contains("2 wallets: 1 to take in, 1 reset"))
            let none = try scene.ask("migrate", "apply", scene.source + ".none")
            #expect(none.status == 7)
            #expect(none.complaint.contains("There is no such file"))
            #expect(try scene.ask("migrate", "verify", scene.source).status == 7)
            TestFile.write(Array("no keychain".utf8), to: scene.source)
            #expect(try scene.ask("migrate", "plan", scene.source).status == 9)
            let other = #"{"service":"org.example","account":"a","value":""}"#
            TestFile.write(Array(other.utf8), to: scene.source)
            for verb in ["plan", "apply", "verify"] {
                #expect(try scene.ask("migrate", verb, scene.source).status == 7)
            }
        }
    }
}
