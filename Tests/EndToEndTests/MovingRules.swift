import AuthorityMessages
import Glibc
import Home
import Secrets
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// A state goes on elsewhere, whole or not at all, and no count is lowered by it.
    @Suite(.timeLimit(.minutes(5)))
    struct MovingRules {
        private static let code = "4821"
        private static let passphrase = (option: "--passphrase-fd", text: "maple onward 77 quartz")
        private static let phrase = String(repeating: "abandon ", count: 11) + "about"

        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        @Test func aStateGoesOnElsewhere() throws {
            let first = try installation()
            let file = folder.path(of: "state.coffer")
            let refused = try export(first, to: file)
            #expect(refused.status == 7)
            #expect(refused.complaint.contains("attempt-limiter holds its state"))
            stop(first)
            try succeeds(export(first, to: file))
            #expect(try export(first, to: file).complaint.contains("coffer.file_exists"))

            let second = try TestHome(starting: [])
            try second.admitCommand()
            try succeeds(takeIn(second, file))
            #expect(
                TemporaryFolder.names(in: second.home.path).filter { $0.hasPrefix("state") } == [
                    "state"
                ])
            try start(second)
            let client = try second.newClient("app")
            // As after a rollback: the right passcode waits too.
            #expect(try verify(client) == .coolingDown)
            #expect(try failed(second) == 6)
            try endWait(second)
            #expect(try verify(client) == .verified)
            #expect(try failed(second) == 0)
            let wallets = try client.call(
                ListWallets(namespace: main), token: client.resourceToken(Self.code)
            ).reply.wallets
            #expect(wallets.map(\.label) == ["savings"])
            let shown = try CofferProcess(home: second.home)(
                "wallet", "check", "savings", "--json",
                secrets: [("--passcode-fd", Self.code)])
            try succeeds(shown)
        }

        @Test func aStateThatIsThereIsMovedAsideAndNoCountIsLowered() throws {
            let home = try installation()
            stop(home)
            let file = folder.path(of: "state.coffer")
            try succeeds(export(home, to: file))
            // Eleven wrong ones since then, in 70 charges.
            try alter(
                home,
                """
                UPDATE ledgers SET last_charge = 70, record = CAST(
                json_set(CAST(record AS TEXT), '$.count', 11, '$.deadline', 0) AS BLOB)
                """)
            let asked = try CofferProcess(home: home.home)(
                "state", "import", file, secrets: [Self.passphrase])
            #expect(asked.status == 2)
            #expect(
                TemporaryFolder.names(in: home.home.path).filter { $0.hasPrefix("state") } == [
                    "state"
                ])
            let ended = try takeIn(home, file)
            try succeeds(ended)
            let aside = try ended.object().string("moved_aside")
            #expect(access("\(aside)/attempt-limiter/store.sqlite", F_OK) == 0)
            #expect(access("\(home.home.statesPath)/arrived", F_OK) != 0)
            try start(home)
            #expect(try failed(home) == 11)
            stop(home)
            #expect(
                try home.query("SELECT last_charge FROM ledgers", in: .attemptLimiter) == "70\n")
        }

        @Test func aChangedFileOrAnotherPassphraseChangesNothing() throws {
            let first = try installation()
            stop(first)
            let file = folder.path(of: "state.coffer")
            try succeeds(export(first, to: file))
            let bytes = TestFile.contents(of: file)
            let home = try TestHome(starting: [])
            let other = (option: "--passphrase-fd", text: "maple onward 77 quarts")
            #expect(try takeIn(home, file, passphrase: other).status == 3)
            let random = SeededRandom(seed: 77)
            var changed: [[UInt8]] = [Array(bytes.dropLast()), bytes + [0], Array(bytes[..<100])]
            let places =
                [0, 20, 48, 70_000, bytes.count - 1]
                + (0..<2).map { _ in
                    random.bytes(4).reduce(0) { $0 << 8 | Int($1) } % bytes.count
                }
            for place in places {
                var flipped = bytes
                flipped[place] ^= 1 << (random.bytes(1)[0] & 7)
                changed.append(flipped)
            }
            let path = folder.path(of: "changed")
            for bytes in changed {
                TestFile.write(bytes, to: path)
                let ended = try takeIn(home, path)
                #expect([3, 9].contains(ended.status))
                #expect(
                    TemporaryFolder.names(in: home.home.path).filter { $0.hasPrefix("state") } == [
                        "state"
                    ])
                for service in TemporaryFolder.names(in: home.home.statesPath) {
                    #expect(
                        TemporaryFolder.names(in: "\(home.home.statesPath)/\(service)") == ["lock"])
                }
            }
            try succeeds(takeIn(home, file))
        }

        /// A write that fails at some length stands for a disk that is full there.
        @Test(arguments: [0, 20_480, 40_960]) func aFullDiskChangesNothing(bytes: Int) throws {
            let first = try installation()
            stop(first)
            let file = folder.path(of: "state.coffer")
            let full = try CofferProcess(home: first.home).run(
                ["state", "export", "--out", file], secrets: [Self.passphrase],
                fileBytesMax: bytes)
            #expect(full.status == 1)
            #expect(TemporaryFolder.names(in: folder.path).isEmpty)
            try succeeds(export(first, to: file))
            let home = try TestHome(starting: [])
            let ended = try CofferProcess(home: home.home).run(
                ["state", "import", file, "--yes"], secrets: [Self.passphrase],
                fileBytesMax: bytes)
            #expect(ended.status == 1)
            #expect(
                TemporaryFolder.names(in: home.home.path).filter { $0.hasPrefix("state") } == [
                    "state"
                ])
            #expect(access(home.home.storePath(of: .walletVault), F_OK) != 0)
            try succeeds(takeIn(home, file))
        }

        // MARK: Parts

        /// An owner with a wallet, and no command's session.
        private func installation() throws -> TestHome {
            let home = try TestHome()
            try home.admitCommand()
            try home.newClient("first").setPasscode(Self.code)
            try succeeds(
                CofferProcess(home: home.home)(
                    "wallet", "import", "--label", "savings",
                    secrets: [("--passcode-fd", Self.code), ("--phrase-fd", Self.phrase)]))
            return home
        }

        private func stop(_ home: TestHome) {
            for service in TestHome.services { home.kill(service, SIGTERM) }
        }

        private func start(_ home: TestHome) throws {
            for service in TestHome.services { try home.start(service) }
        }

        private func export(_ home: TestHome, to path: String) throws -> CofferProcess.Ended {
            try CofferProcess(home: home.home)(
                "state", "export", "--out", path, secrets: [Self.passphrase])
        }

        private func takeIn(
            _ home: TestHome, _ path: String,
            passphrase: (option: String, text: String) = Self.passphrase
        ) throws -> CofferProcess.Ended {
            try CofferProcess(home: home.home)(
                "state", "import", path, "--yes", "--json", secrets: [passphrase])
        }

        private enum Answer { case verified, wrong, coolingDown }

        private func verify(_ client: Client) throws -> Answer {
            let answer = try client.call(
                Verify(scope: .appUnlock, audience: []), secrets: [secret(Self.code)])
            switch answer.reply {
            case .verified: return .verified
            case .wrong: return .wrong
            case .coolingDown: return .coolingDown
            }
        }

        /// What the limiter counts, as its store says while the limiter is stopped or runs.
        private func failed(_ home: TestHome) throws -> Int {
            let text = try CofferProcess(home: home.home)("passcode", "status", "--json").object()
            return try text.integer("failed")
        }

        /// Lets a wait be over that a test will not wait for.
        private func endWait(_ home: TestHome) throws {
            home.kill(.attemptLimiter, SIGTERM)
            try alter(
                home,
                """
                UPDATE ledgers SET record = CAST(
                json_set(CAST(record AS TEXT), '$.deadline', 0) AS BLOB)
                """)
            try home.start(.attemptLimiter)
        }

        private func alter(_ home: TestHome, _ sql: String) throws {
            _ = try run("/usr/bin/sqlite3", [home.home.storePath(of: .attemptLimiter), sql])
        }

        private func succeeds(_ ended: CofferProcess.Ended) throws {
            guard ended.status == 0 else {
                throw TestError("ended with \(ended.status): \(ended.complaint)\(ended.output)")
            }
        }
    }
}
