import AuthorityDouble
import BackupShares
import Loop
import Secrets
import Serving
import SharesMessages
import Storage
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import SharesCore

/// Three released shares bring the wallet back that they are of, and no other.
@Suite(.timeLimit(.minutes(1)))
struct RestorationRules {
    @Test func aConfirmedSplitSaysWhichWalletIsExpected() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring(in: rig.spare)
            let (manifest, files) = try await rig.split(wallet.wallet, in: rig.spare)
            try await rig.confirm(manifest, in: rig.spare)
            try await rig.remove(wallet.wallet, in: rig.spare)
            let restoration = try await rig.begin(rig.spare)
            let released = try rig.release(files, for: restoration)
            let reply = try await rig.restore(
                [released[1], released[2], released[0]], restoration, in: rig.spare)
            let back = try #require(installed(reply))
            #expect(back.identity == wallet.identity)
            #expect(back.label == "restored")
            #expect(back.verified)
            #expect(try await rig.wallets(rig.spare).map(\.identity) == [wallet.identity])
            #expect(try await rig.restorations(rig.spare) == [])
        }
    }

    /// What is derived here is what the vault knows the wallet by.
    @Test(
        arguments: [
            (Phrase.longest, WalletKind.bip39, nil), (Phrase.yellow, .dash, .mainnet),
            (Phrase.yellow, .dash, .testnet), (Phrase.ton, .ton, nil),
            (Phrase.about, .tonRotation, nil),
            ("\(Phrase.about) \(Phrase.yellow)", .tonRotation, nil),
        ] as [(String, WalletKind, WalletNetwork?)])
    func everyKindOfWalletComesBack(
        _ phrase: String, _ kind: WalletKind, _ network: WalletNetwork?
    ) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring(phrase, kind: kind, network: network)
            let (manifest, files) = try await rig.split(wallet.wallet)
            #expect(manifest.wallet == SharedWallet(wallet))
            try await rig.remove(wallet.wallet)
            let restoration = try await rig.begin()
            let released = try rig.release(files, for: restoration)
            #expect(
                try await rig.restore(released, restoration) == .unconfirmed(manifest.wallet))
            let back = try #require(
                installed(
                    try await rig.restore(
                        released, restoration, expected: wallet.identity)))
            #expect(SharedWallet(back) == SharedWallet(wallet))
        }
    }

    @Test func onAnEmptyHomeThePersonSaysWhichWalletIsExpected() async throws {
        try await LoopHarness.run {
            let home = try Rig()
            try await home.addHolders()
            let (manifest, files) = try await home.split(home.bring().wallet)
            try await home.confirm(manifest)

            let rig = try Rig(seed: 2)
            let restoration = try await rig.begin()
            let released = try rig.release(files, for: restoration)
            let key = rig.newKey()
            let told = try await rig.restore(released, restoration, key: key)
            #expect(told == .unconfirmed(manifest.wallet))
            // Nothing was done, and nobody is told otherwise.
            #expect(try await rig.wallets() == [])
            #expect(try await rig.outcome(of: key).status == .rejected)
            var other = manifest.wallet.identity
            other[32] ^= 1
            let code = try await code {
                try await rig.restore(released, restoration, expected: other)
            }
            #expect(code == "shares.unexpected_identity")
            #expect(rig.vault.arrived[ImportWallet.method] == nil)
            let reply = try await rig.restore(
                released, restoration, expected: manifest.wallet.identity)
            #expect(installed(reply)?.identity == manifest.wallet.identity)
            #expect(try await rig.wallets().count == 1)
        }
    }

    @Test func anUnconfirmedSplitExpectsNothing() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let (manifest, files) = try await rig.split(rig.bring().wallet)
            let restoration = try await rig.begin()
            let released = try rig.release(files, for: restoration)
            #expect(
                try await rig.restore(released, restoration) == .unconfirmed(manifest.wallet))
        }
    }

    @Test func aWalletThatIsThereStaysAndTheRestorationToo() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring()
            let (manifest, files) = try await rig.split(wallet.wallet)
            try await rig.confirm(manifest)
            let restoration = try await rig.begin()
            let released = try rig.release(files, for: restoration)
            let key = rig.newKey()
            for _ in 0..<2 {
                let code = try await code {
                    try await rig.restore(released, restoration, key: key)
                }
                #expect(code == "vault.wallet_exists")
            }
            #expect(
                try await rig.outcome(of: key)
                    == OutcomeReply(status: .rejected, code: "vault.wallet_exists"))
            #expect(try await rig.restorations() == [restoration])
            #expect(try await rig.wallets() == [wallet])
            // What the vault said then does not hold for ever.
            try await rig.remove(wallet.wallet)
            let reply = try await rig.restore(released, restoration)
            #expect(installed(reply)?.identity == wallet.identity)
        }
    }

    @Test func aRepeatIsAnsweredTheSame() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let files = try rig.foreign(Phrase.about)
            let restoration = try await rig.begin()
            let released = try rig.releaseForeign(files, for: restoration)
            let told = try await rig.restore(released, restoration, kind: .bip39)
            guard case .unconfirmed(let wallet) = told else {
                Issue.record("not asked")
                return
            }
            let key = rig.newKey()
            let first = try await rig.restore(
                released, restoration, expected: wallet.identity, kind: .bip39, key: key)
            let second = try await rig.restore(
                released, restoration, expected: wallet.identity, kind: .bip39, key: key)
            #expect(installed(first) != nil)
            #expect(first == second)
            #expect(rig.vault.arrived[ImportWallet.method] == 1)
            #expect(try await rig.outcome(of: key).status == .done)
            let again = try await code {
                try await rig.restore(
                    released, restoration, expected: wallet.identity, kind: .bip39)
            }
            #expect(again == "shares.no_such_restoration")
        }
    }

    // MARK: Files that cannot be used

    /// Each at its place, with its holder, and nothing is done.
    @Test func whatCannotBeUsedIsNamed() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            let files = try await rig.split(wallet).files
            let others = try await rig.split(wallet).files
            let restoration = try await rig.begin()
            let another = try await rig.begin()
            let released = try rig.release(files, for: restoration)
            let strangers = try rig.release(others, for: restoration)
            let elsewhere = try rig.release(files, for: another)
            var damaged = released
            damaged[1][400] ^= 1
            let names = rig.holders.map { Optional($0.name) }
            typealias Unusable = RestoreWallet.Reply.Unusable
            let rows: [([[UInt8]], [Unusable])] = [
                (
                    [released[0], files[1], released[2]],
                    [Unusable(file: 1, holder: names[1], problem: .sealed)]
                ),
                (
                    [elsewhere[0], released[1], released[2]],
                    [Unusable(file: 0, holder: names[0], problem: .otherRestoration)]
                ),
                (
                    [released[0], released[1], strangers[2]],
                    [Unusable(file: 2, holder: names[2], problem: .otherSplit)]
                ),
                (
                    [released[0], released[0], released[2]],
                    [Unusable(file: 1, holder: names[0], problem: .duplicate)]
                ),
                (
                    [released[0], released[2], released[2]],
                    [Unusable(file: 2, holder: names[2], problem: .duplicate)]
                ),
                (
                    [released[0], [UInt8](repeating: 5, count: 288), released[2]],
                    [Unusable(file: 1, holder: nil, problem: .damaged)]
                ),
                (
                    [Array(files[0].dropLast()), [], elsewhere[2]],
                    [
                        Unusable(file: 0, holder: nil, problem: .damaged),
                        Unusable(file: 1, holder: nil, problem: .damaged),
                        Unusable(file: 2, holder: names[2], problem: .otherRestoration),
                    ]
                ),
            ]
            for (files, unusable) in rows {
                #expect(try await rig.restore(files, restoration) == .unusable(unusable))
            }
            guard case .unusable(let list) = try await rig.restore(damaged, restoration) else {
                Issue.record("a changed file was taken")
                return
            }
            #expect(list.map(\.file) == [1])
            #expect(list.map(\.problem) == [.damaged])
            #expect(rig.vault.arrived[ImportWallet.method] == nil)
            #expect(try await rig.restorations() == [restoration, another])
        }
    }

    /// A holder exchanges his share, and what his file says of it.
    @Test(arguments: [true, false]) func aLyingHolderIsNamed(_ isKnown: Bool) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring()
            let (manifest, files) = try await rig.split(wallet.wallet)
            if isKnown { try await rig.confirm(manifest) }
            let restoration = try await rig.begin()
            var released = try rig.release(files, for: restoration)
            // With the right code, digest and all: only the others know better.
            let forged = try ShareFile.split(
                PhraseBlock.encode(SecretBytes(copying: Array(Phrase.yellow.utf8))),
                id: manifest.split.bytes, wallet: ShareFacts.Wallet(manifest.wallet),
                made: manifest.made,
                among: rig.holders.prefix(3).map {
                    ShareHolder(name: $0.name.text, publicKey: $0.publicKey)
                }, random: rig.random
            ).map(\.bytes)
            released[1] = try rig.release(forged, for: restoration)[1]
            let one = try await rig.restore(released, restoration)
            #expect(
                one
                    == .unusable([
                        .init(file: 1, holder: rig.holders[1].name, problem: .wrong)
                    ]))
            let three = try rig.release(forged, for: restoration)
            guard isKnown else {
                // Nobody but the phrase itself can tell.
                let code = try await code { try await rig.restore(three, restoration) }
                #expect(code == "shares.unexpected_identity")
                return
            }
            guard case .unusable(let list) = try await rig.restore(three, restoration) else {
                Issue.record("three forged files were taken")
                return
            }
            #expect(list.map(\.problem) == [.wrong, .wrong, .wrong])
        }
    }

    /// All three lie together: the phrase itself says whose it is.
    @Test func sharesThatNameAnotherWalletBringNothing() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let wallet = try await rig.bring()
            let restoration = try await rig.begin()
            let forged = try ShareFile.split(
                PhraseBlock.encode(SecretBytes(copying: Array(Phrase.yellow.utf8))),
                id: [UInt8](repeating: 3, count: 16),
                wallet: ShareFacts.Wallet(SharedWallet(wallet)), made: 1,
                among: rig.holders.prefix(3).map {
                    ShareHolder(name: $0.name.text, publicKey: $0.publicKey)
                }, random: rig.random
            ).map(\.bytes)
            let released = try rig.release(forged, for: restoration)
            for expected in [nil, wallet.identity] {
                let code = try await code {
                    try await rig.restore(released, restoration, expected: expected)
                }
                #expect(code == "shares.unexpected_identity")
            }
            #expect(rig.vault.arrived[ImportWallet.method] == nil)
        }
    }

    // MARK: Other programs

    @Test func foreignSharesNeedAKind() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let restoration = try await rig.begin()
            let released = try rig.releaseForeign(try rig.foreign(Phrase.about), for: restoration)
            let code = try await code { try await rig.restore(released, restoration) }
            #expect(code == "shares.kind_needed")
            let ton = try await SharesTests.code(of: {
                try await rig.restore(released, restoration, kind: .ton)
            })
            #expect(ton == "shares.invalid_phrase")
            let told = try await rig.restore(released, restoration, kind: .bip39)
            guard case .unconfirmed(let wallet) = told else {
                Issue.record("not asked")
                return
            }
            #expect(
                Hex.encode(wallet.identity)
                    == "03d902f35f560e0470c63313c7369168d9d7df2d49bf295fd9fb7cb109ccee0494")
            #expect(wallet.words == 12)
        }
    }

    /// Bare ones, wrapped ones, a block that was prefixed before it was split, and key parts of a
    /// text without its spaces.
    @Test(arguments: Generation.allCases) func everyGenerationIsRestored(
        _ generation: Generation
    ) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let restoration = try await rig.begin()
            let files = try generation.files(
                of: Phrase.yellow, for: restoration.publicKey, random: rig.random)
            let told = try await rig.restore(
                [files[2], files[0], files[1]], restoration, kind: .bip39)
            guard case .unconfirmed(let wallet) = told else {
                Issue.record("not asked")
                return
            }
            let reply = try await rig.restore(
                files, restoration, expected: wallet.identity, kind: .bip39)
            #expect(installed(reply)?.words == 12)
        }
    }

    @Test func foreignSharesOfDifferentSplitsAreNoPhrase() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let restoration = try await rig.begin()
            let first = try rig.releaseForeign(try rig.foreign(Phrase.about), for: restoration)
            let second = try rig.releaseForeign(try rig.foreign(Phrase.about), for: restoration)
            let code = try await code {
                try await rig.restore(
                    [first[0], first[1], second[2]], restoration, kind: .bip39)
            }
            #expect(code == "shares.unfit_shares")
        }
    }

    @Test func foreignSharesAndShareFilesDoNotMix() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let files = try await rig.split(rig.bring().wallet).files
            let restoration = try await rig.begin()
            let released = try rig.release(files, for: restoration)
            let foreign = try rig.releaseForeign(
                try files.map { try ShareFile($0).envelope.bytes }, for: restoration)
            let one = try await rig.restore(
                [released[0], released[1], foreign[2]], restoration, kind: .bip39)
            #expect(one == .unusable([.init(file: 2, holder: nil, problem: .otherSplit)]))
            let two = try await rig.restore(
                [released[0], foreign[1], foreign[2]], restoration, kind: .bip39)
            #expect(
                two
                    == .unusable([
                        .init(file: 0, holder: rig.holders[0].name, problem: .otherSplit)
                    ]))
        }
    }

    /// The envelopes of this program's files are those of other programs.
    @Test func theEnvelopesAloneAreEnough() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let (manifest, files) = try await rig.split(rig.bring().wallet)
            let restoration = try await rig.begin()
            let bare = try rig.releaseForeign(
                try files.map { try ShareFile($0).envelope.bytes }, for: restoration)
            let told = try await rig.restore(bare, restoration, kind: .bip39)
            #expect(told == .unconfirmed(manifest.wallet))
        }
    }

    @Test func aKindThatIsNotTheFilesIsRefused() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let (manifest, files) = try await rig.split(rig.bring().wallet)
            let restoration = try await rig.begin()
            let released = try rig.release(files, for: restoration)
            let code = try await code {
                try await rig.restore(released, restoration, kind: .ton)
            }
            #expect(code == "shares.unexpected_identity")
            let same = try await rig.restore(released, restoration, kind: .bip39)
            #expect(same == .unconfirmed(manifest.wallet))
        }
    }

    // MARK: Restorations

    @Test func thereAreOnlySoManyAtATime() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            var begun: [RestorationDescription] = []
            for _ in 0..<SharesLimits().restorationsPerNamespace {
                begun.append(try await rig.begin())
            }
            #expect(Set(begun.map(\.publicKey)).count == begun.count)
            #expect(try await code { try await rig.begin() } == "shares.full")
            #expect(try await rig.restorations() == begun)
            _ = try await rig.begin(rig.spare)
            try await rig.ask(
                AbandonRestoration(namespace: rig.main, restoration: begun[3].restoration),
                token: rig.resource())
            _ = try await rig.begin()
        }
    }

    @Test func anotherNamespaceDoesNotKnowIt() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let restoration = try await rig.begin()
            let files = try rig.releaseForeign(try rig.foreign(Phrase.about), for: restoration)
            let code = try await code {
                try await rig.restore(files, restoration, in: rig.spare, kind: .bip39)
            }
            #expect(code == "shares.no_such_restoration")
            let abandon = AbandonRestoration(
                namespace: rig.spare, restoration: restoration.restoration)
            let refused = try await rig.refusal(abandon, token: rig.resource(rig.spare))
            #expect(refused == "shares.no_such_restoration")
            #expect(try await rig.restorations() == [restoration])
        }
    }

    @Test func itTakesAResourceSessionOfTheNamespace() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            let restoration = try await rig.begin()
            let files = try rig.releaseForeign(try rig.foreign(Phrase.about), for: restoration)
            let restore = RestoreWallet(
                namespace: rig.main, restoration: restoration.restoration, label: "",
                expected: nil, walletKind: .bip39)
            let scope = Scope.resource(rig.main)
            let wrong = [
                (try rig.resource(rig.spare), "lease.not_authorised"),
                (try rig.settings(), "lease.not_authorised"),
                (try rig.token(scope, audience: [.walletVault]), "session.invalid"),
                (try rig.token(scope, holder: rig.second), "session.invalid"),
                (try rig.token(scope, owner: rig.other), "session.invalid"),
                ([], "session.invalid"),
            ]
            for (token, code) in wrong {
                #expect(
                    try await rig.refusal(
                        restore, token: token, attachments: files.map { secret($0) }) == code)
                let begin = BeginRestoration(namespace: rig.main)
                #expect(try await rig.refusal(begin, token: token) == code)
                let list = ListRestorations(namespace: rig.main)
                #expect(try await rig.refusal(list, token: token) == code)
                let splits = ListSplits(namespace: rig.main)
                #expect(try await rig.refusal(splits, token: token) == code)
            }
            // The vault is asked with the same token later: one that does not name it is refused
            // before anything is opened.
            let half = try rig.token(scope, audience: [.backupShares])
            let refused = try await rig.refusal(
                restore, token: half, attachments: files.map { secret($0) })
            #expect(refused == "session.invalid")
            #expect(try await rig.wallets() == [])
            #expect(try await rig.restorations() == [restoration])
        }
    }
}

/// How other programs wrote their shares.
enum Generation: CaseIterable {
    case bare
    case wrapped
    case interim
    case keyParts

    func files(
        of phrase: String, for publicKey: [UInt8], random: SeededRandom
    ) throws -> [[UInt8]] {
        let text = Array(phrase.utf8)
        let block = text + [UInt8](repeating: 0x20, count: PhraseBlock.byteCount - text.count)
        let prefix: [UInt8] = [0x08, 0xDD, 0x90, 0x8B, 0xD7]
        let payloads: [[UInt8]] =
            switch self {
            case .bare, .wrapped: Self.shares(of: block, random).map { prefix + $0 }
            case .interim: Self.shares(of: prefix + block, random)
            case .keyParts: Self.shares(of: text, random).map(Self.keyPart)
            }
        return try payloads.enumerated().map { index, payload in
            let envelope = try ShareEnvelope.seal(
                SecretBytes(copying: payload), to: publicKey, random: random
            ).bytes
            return self == .wrapped ? Self.wrapped(envelope, index) : envelope
        }
    }

    private static func shares(of text: [UInt8], _ random: SeededRandom) -> [[UInt8]] {
        let first = random.bytes(text.count)
        let second = random.bytes(text.count)
        return [first, second, text.indices.map { text[$0] ^ first[$0] ^ second[$0] }]
    }

    private static func keyPart(_ text: [UInt8]) -> [UInt8] {
        let part = [0x08, 0xDD, 0x90, 0x8B, UInt8(text.count)] + text
        return part + [UInt8](repeating: 0, count: (4 - part.count % 4) % 4)
    }

    private static func wrapped(_ envelope: [UInt8], _ index: Int) -> [UInt8] {
        let head: [UInt8] = [
            0x58, 0x71, 0xA8, 0x1E, UInt8(index), 0, 0, 0, 3, 0, 0, 0, 9, 8, 7, 6,
        ]
        return head + [0xFE, 0x20, 0x01, 0x00] + envelope
    }
}

extension Rig {
    /// Three bare envelopes as another program hands them to its holders.
    func foreign(_ phrase: String) throws -> [[UInt8]] {
        try ShareEnvelope.seal(
            block: PhraseBlock.encode(SecretBytes(copying: Array(phrase.utf8))),
            to: holders.prefix(3).map(\.publicKey), random: random
        ).map(\.bytes)
    }

    func releaseForeign(
        _ files: [[UInt8]], for restoration: RestorationDescription
    ) throws -> [[UInt8]] {
        try zip(files, holders).map { file, holder in
            try ReceivedEnvelope(file).release(
                privateKey: holder.privateKey.bytes, publicKey: restoration.publicKey,
                random: random
            ).bytes
        }
    }

    func remove(_ wallet: WalletID, in namespace: Namespace? = nil) async throws {
        _ = try await vault.ask(
            RemoveWallet(namespace: namespace ?? main, wallet: wallet), from: remover,
            owner: owner,
            token: token(.settings, holder: remover, audience: [.walletVault]))
    }
}
