import AuthorityMessages
import BackupShares
import Crypto
import Glibc
import Secrets
import SharesMessages
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

extension EndToEnd {
    /// A wallet is split and restored by an app on the bus, whatever is killed in between.
    @Suite(.timeLimit(.minutes(5)))
    struct SharesRules {
        @Test func aWalletIsSplitHereAndRestoredElsewhere() throws {
            let here = try SharesHome()
            let wallet = try here.create()
            let (manifest, files) = try here.split(wallet)
            try here.confirm(manifest)
            #expect(try here.splits().map(\.confirmed) == [true])
            let phrase = try here.reveal(wallet)

            let there = try SharesHome()
            let restoration = try there.begin()
            let released = try here.release(files, for: restoration)
            let told = try there.restore(released.reversed(), restoration)
            #expect(told == .unconfirmed(manifest.wallet))
            let reply = try there.restore(
                released, restoration, expected: manifest.wallet.identity)
            guard case .installed(let back) = reply else {
                Issue.record("not installed")
                return
            }
            #expect(back.identity == wallet.identity)
            #expect(try there.reveal(back) == phrase)
            #expect(try there.restorations() == [])
            // Nothing of it is left to ask for.
            #expect(
                refusal { try there.restore(released, restoration) }
                    == "shares.no_such_restoration")
        }

        @Test func aSessionThatDoesNotNameTheVaultRestoresNothing() throws {
            let here = try SharesHome()
            let wallet = try here.create()
            let client = here.client
            // A proof that does not name the vault is not given at all.
            #expect(
                refusal {
                    try client.unlock(
                        "1234", scope: .reveal(main, wallet.wallet), audience: [.backupShares])
                } == "bus.malformed")
            let session = try known(
                client.unlock("1234", scope: .resource(main), audience: [.backupShares]))
            let begin = BeginRestoration(namespace: main)
            let restoration = try client.call(begin, token: session).reply
            let restore = RestoreWallet(
                namespace: main, restoration: restoration.restoration, label: "",
                expected: nil, walletKind: .bip39)
            let files = (0..<3).map { _ in secret("no share") }
            #expect(
                refusal { try client.call(restore, token: session, secrets: files) }
                    == "session.invalid")
            #expect(try here.restorations() == [restoration])
        }

        @Test func onlyTheRightProofSplitsAndOnlyOnce() throws {
            let here = try SharesHome()
            let wallet = try here.create()
            let other = try here.create()
            let split = here.request(wallet)
            let client = here.client
            let scope = Scope.reveal(main, wallet.wallet)
            let both: [ServiceName] = [.walletVault, .backupShares]
            let elsewhere = try here.home.newClient("another")
            let theirs = try known(elsewhere.unlock("1234", scope: scope, audience: both))
            let wrong: [([UInt8]?, String)] = [
                (try client.unlock("1234", scope: .resource(main), audience: both), ""),
                (try client.unlock("1234", scope: .reveal(main, other.wallet), audience: both), ""),
                (try client.unlock("1234", scope: scope, audience: [.walletVault]), "invalid"),
                (theirs, "invalid"), ([], "invalid"),
            ]
            for (token, hint) in wrong {
                let code = refusal { try client.call(split, token: try known(token)) }
                #expect(code == (hint.isEmpty ? "lease.not_authorised" : "session.invalid"))
            }
            // No refusal spent it: it still works for whom it is meant.
            let used = refusal { try elsewhere.call(split, token: theirs) }
            #expect([nil, "lease.over", "shares.vault_silent"].contains(used))
            #expect(refusal { try elsewhere.call(split, token: theirs) } == "session.ended")
            let reveal = RevealWallet(namespace: main, wallet: wallet.wallet)
            #expect(refusal { try elsewhere.call(reveal, token: theirs) } == "session.ended")
            // A service that the token does not name acts for nobody.
            let check = CheckWallet(namespace: main, wallet: wallet.wallet)
            let migration = try here.home.client(as: .migration)
            let session = try here.session()
            #expect(refusal { try migration.call(check, token: session) } == "session.invalid")
            let shares = try here.home.client(as: .backupShares)
            #expect(refusal { try shares.call(check, token: session) } == nil)
        }

        @Test func anExtensionAndAnEngineSplitNothing() throws {
            let here = try SharesHome()
            let wallet = try here.create()
            for role in [Role.extension, .engine, .operator] {
                let peer = try here.home.newClient("peer-\(role.text)", role: role)
                let code = refusal { try peer.call(here.request(wallet), token: [1]) }
                #expect(code == "bus.forbidden")
            }
            let vault = try here.home.client(as: .walletVault)
            #expect(
                refusal { try vault.call(here.request(wallet), token: [1]) } == "bus.forbidden")
        }

        @Test func splitsAtOnceAreAllWhole() throws {
            let here = try SharesHome()
            let wallet = try here.create()
            let phrase = try here.reveal(wallet)
            let requests = try (0..<6).map { _ in
                (here.request(wallet), token: try here.proof(wallet))
            }
            var made: Set<SplitID> = []
            for result in try here.client.callEach(requests) {
                // On a slow machine the leave of one may run out behind the others.
                guard case .success(let answer) = result else { continue }
                made.insert(answer.reply.split)
                #expect(try here.joined(answer.attachments.map(\.array)) == phrase)
            }
            #expect(!made.isEmpty)
            #expect(made.isSubset(of: Set(try here.splits().map(\.split))))
        }

        // MARK: Kills

        /// A split whose files arrived has a manifest, and a proof is never spent twice.
        @Test(arguments: [ServiceName.backupShares, .walletVault])
        func aKilledSplitLeavesNothingHalf(_ service: ServiceName) throws {
            let here = try SharesHome()
            let wallet = try here.create()
            let phrase = try here.reveal(wallet)
            var answered = 0
            for round in 0..<14 {
                let proof = try here.proof(wallet)
                try here.home.killSoon(service, milliseconds: round * 3)
                let result = Result { () throws(Refusal) in
                    try here.client.call(here.request(wallet), token: proof, timeout: 2_000)
                }
                try here.home.restartKilled(service)
                let known = try here.splits()
                if case .success(let answer) = result {
                    answered += 1
                    #expect(known.map(\.split).contains(answer.reply.split))
                    #expect(try here.joined(answer.attachments.map(\.array)) == phrase)
                }
                #expect(known.allSatisfy { !$0.confirmed })
            }
            // It goes on as if nothing had been.
            try here.confirm(try here.split(wallet).manifest)
            #expect(try here.splits().map(\.confirmed) == [true])
            #expect(answered < 14)
        }

        /// The outcome that is told is what happened, and a repeat is answered by it.
        @Test(arguments: [ServiceName.backupShares, .walletVault])
        func aKilledRestorationHasATrueOutcome(_ service: ServiceName) throws {
            let here = try SharesHome()
            let wallet = try here.create()
            let (manifest, files) = try here.split(wallet)
            try here.confirm(manifest)
            try here.remove(wallet)
            var outcomes: [OutcomeStatus: Int] = [:]
            for round in 0..<16 {
                let restoration = try here.begin()
                let released = try here.release(files, for: restoration)
                let key = try known(IdempotencyKey(KernelRandom().bytes(16)))
                let token = try here.session()
                try here.home.killSoon(service, milliseconds: round * 4)
                let first = Result { () throws(Refusal) in
                    try here.restore(
                        released, restoration, key: key, token: token, timeout: 3_000)
                }
                try here.home.restartKilled(service)
                let status = try here.outcome(of: key)
                outcomes[status, default: 0] += 1
                let wallets = try here.wallets()
                #expect(wallets.map(\.identity) == (status == .done ? [wallet.identity] : []))
                #expect(try here.restorations().isEmpty == (status == .done))
                if case .success(.installed) = first { #expect(status == .done) }
                let again = Result { () throws(Refusal) in
                    try here.restore(
                        released, restoration, key: key, token: try here.session())
                }
                switch (status, again) {
                case (.done, .success(.installed(let back))):
                    #expect(back.identity == wallet.identity)
                case (.done, .success(.installedEarlier(let back))):
                    #expect(back == manifest.wallet)
                case (.rejected, .failure(let refusal)): #expect(refusal.outcome == .rejected)
                default: Issue.record("\(status) and \(again)")
                }
                if let back = wallets.first {
                    try here.remove(back)
                } else {
                    try here.abandon(restoration)
                }
            }
            #expect(outcomes[.inFlight] == nil)
            #expect((outcomes[.done] ?? 0) > 0)
        }
    }
}

/// An installation with a passcode, an app and three holders.
private final class SharesHome {
    static let both: [ServiceName] = [.walletVault, .backupShares]

    let home: TestHome
    let client: Client
    private let random = KernelRandom()
    private let holders: [(name: HolderName, key: SharedSecret)]

    init() throws {
        home = try TestHome()
        client = try home.newClient("app")
        try client.setPasscode("1234")
        // The same holders know both homes.
        holders = try ["anna", "boris", "cleo"].enumerated().map { number, name in
            let seed = [UInt8](repeating: UInt8(number + 1), count: 32)
            return (try known(HolderName(name)), SharedSecret(SecretBytes(copying: seed)))
        }
        let settings = try known(
            client.unlock("1234", scope: .settings, audience: [.backupShares]))
        for holder in holders {
            _ = try client.call(
                AddHolder(
                    name: holder.name, publicKey: try Ed25519.publicKey(seed: holder.key.bytes)),
                token: settings)
        }
    }

    func session() throws(Refusal) -> [UInt8] {
        let answer = try client.call(
            Verify(scope: .resource(main), audience: Self.both), secrets: [secret("1234")])
        return answer.attachments[0].array
    }

    func proof(_ wallet: WalletDescription) throws -> [UInt8] {
        try known(
            client.unlock("1234", scope: .reveal(main, wallet.wallet), audience: Self.both))
    }

    // MARK: Wallets

    func create() throws -> WalletDescription {
        try client.call(
            CreateWallet(namespace: main, label: "", words: 24), token: session()
        ).reply
    }

    func reveal(_ wallet: WalletDescription) throws -> [UInt8] {
        try retrying {
            try client.call(
                RevealWallet(namespace: main, wallet: wallet.wallet), token: proof(wallet))
        }.attachments[0].array
    }

    func wallets() throws -> [WalletDescription] {
        try client.call(ListWallets(namespace: main), token: session()).reply.wallets
    }

    func remove(_ wallet: WalletDescription) throws {
        let settings = try known(client.unlock("1234", scope: .settings))
        _ = try client.call(
            RemoveWallet(namespace: main, wallet: wallet.wallet), token: settings)
    }

    // MARK: Splits

    func request(_ wallet: WalletDescription) -> SplitWallet {
        SplitWallet(namespace: main, wallet: wallet.wallet, holders: holders.map(\.name))
    }

    func split(_ wallet: WalletDescription) throws -> (manifest: Manifest, files: [[UInt8]]) {
        let answer = try retrying { try client.call(request(wallet), token: proof(wallet)) }
        return (answer.reply, answer.attachments.map(\.array))
    }

    func confirm(_ manifest: Manifest) throws {
        _ = try client.call(
            ConfirmSplit(
                namespace: main, split: manifest.split, files: manifest.shares.map(\.file)),
            token: session())
    }

    func splits() throws -> [Manifest] {
        try client.call(ListSplits(namespace: main), token: session()).reply.splits
    }

    /// The phrase of three files, by their holders' keys.
    func joined(_ files: [[UInt8]]) throws -> [UInt8] {
        let payloads = try zip(files, holders).map { file, holder in
            try ShareFile(file).payload(privateKey: holder.key.bytes)
        }
        return try PhraseBlock.decode(ShareSplit.combine(payloads)).withBytes { Array($0) }
    }

    func release(
        _ files: [[UInt8]], for restoration: RestorationDescription
    ) throws -> [[UInt8]] {
        try zip(files, holders).map { file, holder in
            try ShareFile(file).release(
                privateKey: holder.key.bytes, for: restoration.restoration.bytes,
                publicKey: restoration.publicKey, random: random
            ).bytes
        }
    }

    // MARK: Restorations

    func begin() throws -> RestorationDescription {
        try client.call(BeginRestoration(namespace: main), token: session()).reply
    }

    func restorations() throws -> [RestorationDescription] {
        try client.call(ListRestorations(namespace: main), token: session()).reply.restorations
    }

    func abandon(_ restoration: RestorationDescription) throws {
        _ = try client.call(
            AbandonRestoration(namespace: main, restoration: restoration.restoration),
            token: session())
    }

    func restore(
        _ files: [[UInt8]], _ restoration: RestorationDescription, expected: [UInt8]? = nil,
        key: IdempotencyKey? = nil, token: [UInt8]? = nil, timeout: UInt64 = 30_000
    ) throws(Refusal) -> RestoreWallet.Reply {
        let token = if let token { token } else { try session() }
        return try client.call(
            RestoreWallet(
                namespace: main, restoration: restoration.restoration, label: "back",
                expected: expected),
            token: token, key: key,
            secrets: files.map { SharedSecret(SecretBytes(copying: $0)) }, timeout: timeout
        ).reply
    }

    /// Asks until it is known.
    func outcome(of key: IdempotencyKey) throws -> OutcomeStatus {
        for _ in 0..<50 {
            let status = try client.call(AskOutcome<Shares>(key: key)).reply.status
            if status != .inFlight { return status }
            usleep(50_000)
        }
        return .inFlight
    }
}

/// Once more, with a new proof, where a busy machine let the leave run out.
private func retrying<T>(_ body: () throws -> T) throws -> T {
    for _ in 0..<4 {
        do { return try body() } catch let refusal as Refusal
            where ["lease.over", "shares.vault_silent"].contains(refusal.code)
        {}
    }
    return try body()
}

extension SharedSecret {
    fileprivate var array: [UInt8] { bytes.withBytes { Array($0) } }
}
