import AuthorityMessages
import Glibc
import Home
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// The state that version 0.1.0 left is one that these programs go on with.
    @Suite(.timeLimit(.minutes(3)))
    struct StateOfVersion1Rules {
        private static let passcode = (option: "--passcode-fd", text: "258037")
        private static let wallets = [
            "savings": "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494",
            "dash": "0b91f36de2613a410303e8309b4f92a150738ae018695d2030b33e64ccea7b2e",
            "ton": "f6c450a16bb1c514e22f1977e390a3025599aa1e7b00068a6aacf2119484c1bd",
            "rotation": "7952e94118f34607c75e23258dd9220d66ccac5a3ee074125c25068e8107bfbf",
        ]
        private static let migrated: Set = [
            "0b91f36de2613a410303e8309b4f92a150738ae018695d2030b33e64ccea7b2e",
            "5470af264c59723d4700b26b95ebafa51851efbd37454188a6e63fb340eb9567",
        ]

        private let home: TestHome
        private let coffer: CofferProcess

        /// Services over a copy.
        init() throws {
            home = try TestHome(starting: [])
            try home.admitCommand()
            coffer = CofferProcess(home: home.home)
            let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
            let kept = "/\(tests)/StateOfVersion1/state"
            for service in TestHome.services {
                guard mkdir(home.home.statePath(of: service), 0o700) == 0 else {
                    throw TestError("mkdir")
                }
                TestFile.write(
                    TestFile.contents(of: "\(kept)/\(service.text)/\(Home.storeName)"),
                    to: home.home.storePath(of: service))
            }
            for service in TestHome.services { try home.start(service) }
        }

        @Test func everyServiceKnowsTheOwnerAndHisCount() throws {
            let owners = try coffer("owner", "list", "--json").object().objects("owners")
            #expect(try owners.map { try $0.string("owner") } == ["local"])
            #expect(try owners.first?.strings("known_to").count == TestHome.services.count)
            let before = try coffer("passcode", "status", "--json").object()
            #expect(try before.string("kind") == "digits6")
            #expect(try before.integer("failed") == 2)
            let wrong = try coffer(
                "wallet", "list", secrets: [(option: "--passcode-fd", text: "258038")])
            #expect(wrong.status == 3)
            _ = try listed("main")
            #expect(try coffer("passcode", "status", "--json").object().integer("failed") == 0)
        }

        @Test func everyWalletOpens() throws {
            let listed = try listed("main")
            #expect(listed == Self.wallets)
            for label in Self.wallets.keys.sorted() {
                let checked = try succeeded("wallet", "check", label, "--json")
                #expect(try checked.object().string("identity") == Self.wallets[label])
            }
            let shown = try succeeded(
                "wallet", "sign", "savings", "--scheme", "secp256k1", "--digest",
                String(repeating: "07", count: 32), "--path", "m/44'/0'/0'/0/0", "--json")
            #expect(try !shown.object().keys.isEmpty)
        }

        @Test func theSplitIsABackupAndTheSourceIsDone() throws {
            let splits = try succeeded("backup", "list", "--json").object().objects("splits")
            #expect(try splits.map { try $0.bool("confirmed") } == [true])
            let holders = try coffer("holder", "list", "--json").object().objects("holders")
            #expect(try holders.map { try $0.string("name") } == ["alice", "bob", "carol"])
            #expect(try Set(listed("dash.mainnet").values) == Self.migrated)
            #expect(try coffer("migrate", "status").status == 0)
            home.kill(.migration, SIGTERM)
            #expect(
                try home.query("SELECT done FROM sources", in: .migration) == "1\n")
        }

        /// It goes on elsewhere, too.
        @Test func itIsExportedAndImported() throws {
            for service in TestHome.services { home.kill(service, SIGTERM) }
            let file = home.home.path + "/state.coffer"
            let passphrase = (option: "--passphrase-fd", text: "maple onward 77 quartz")
            let exported = try coffer("state", "export", "--out", file, secrets: [passphrase])
            #expect(exported.status == 0)
            let second = try TestHome(starting: [])
            try second.admitCommand()
            let imported = try CofferProcess(home: second.home)(
                "state", "import", file, "--json", secrets: [passphrase])
            #expect(imported.status == 0)
            #expect(
                try imported.object().strings("services").count == TestHome.services.count)
            #expect(
                try second.query("SELECT count(*) FROM wallets", in: .walletVault) == "6\n")
        }

        private func listed(_ namespace: String) throws -> [String: String] {
            let reply = try succeeded("wallet", "list", "--namespace", namespace, "--json").object()
            return try Dictionary(
                reply.objects("wallets").map {
                    (try $0.string("label"), try $0.string("identity"))
                }
            ) { first, _ in first }
        }

        private func succeeded(_ words: String...) throws -> CofferProcess.Ended {
            let ended = try coffer.run(words, secrets: [Self.passcode])
            guard ended.status == 0 else {
                throw TestError("ended with \(ended.status): \(ended.complaint)\(ended.output)")
            }
            return ended
        }
    }
}
