import AuthorityDouble
import BackupShares
import Crypto
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

/// A split hands three sealed shares out, keeps everything else, and spends a proof only for that.
@Suite(.timeLimit(.minutes(1)))
struct SplitRules {
    @Test func eachShareIsForItsHolderAndTheThreeGiveThePhrase() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring()
            let names = [2, 0, 1].map { rig.holders[$0].name }
            let (manifest, files) = try await rig.split(wallet.wallet, among: names)
            #expect(manifest.shares.map(\.holder) == names)
            #expect(manifest.shares.map(\.file) == files.map { SHA256.digest($0) })
            #expect(manifest.wallet == SharedWallet(wallet))
            #expect(!manifest.confirmed)
            let payloads = try zip(files, [2, 0, 1]).map { bytes, index in
                let file = try ShareFile(bytes)
                #expect(file.recipient == rig.holders[index].publicKey)
                #expect(file.split == ShareFacts(manifest))
                return try file.payload(privateKey: rig.holders[index].privateKey.bytes)
            }
            let phrase = try PhraseBlock.decode(ShareSplit.combine(payloads))
            #expect(phrase.withBytes { Array($0) } == Array(Phrase.about.utf8))
            #expect(try await rig.splits() == [manifest])
        }
    }

    @Test func itCountsAsABackupOnceItIsConfirmed() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let (manifest, _) = try await rig.split(rig.bring().wallet)
            for _ in 0..<2 { try await rig.confirm(manifest) }
            var confirmed = manifest
            confirmed.confirmed = true
            #expect(try await rig.splits() == [confirmed])
            #expect(try await rig.splits(rig.spare) == [])
        }
    }

    @Test func onlyTheFilesOfTheSplitConfirmIt() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let (manifest, _) = try await rig.split(rig.bring().wallet)
            let right = manifest.shares.map(\.file)
            var changed = right
            changed[1][0] ^= 1
            for wrong in [
                changed, [right[1], right[0], right[2]], [right[0], right[0], right[0]],
            ] {
                let request = ConfirmSplit(
                    namespace: rig.main, split: manifest.split, files: wrong)
                #expect(
                    try await rig.refusal(request, token: rig.resource()) == "shares.other_files")
            }
            let elsewhere = ConfirmSplit(
                namespace: rig.spare, split: manifest.split, files: right)
            let refused = try await rig.refusal(elsewhere, token: rig.resource(rig.spare))
            #expect(refused == "shares.no_such_split")
            #expect(try await rig.splits().map(\.confirmed) == [false])
        }
    }

    @Test func aConfirmedSplitForgetsEarlierAttemptsOfItsWalletAlone() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            let another = try await rig.bring(Phrase.yellow).wallet
            let kept = try await rig.split(wallet).manifest
            try await rig.confirm(kept)
            let cutOff = try await rig.split(wallet).manifest
            let others = try await rig.split(another).manifest
            let confirmed = try await rig.split(wallet).manifest
            let later = try await rig.split(wallet).manifest
            try await rig.confirm(confirmed)
            let left = try await rig.splits()
            #expect(left.map(\.split) == [kept, others, confirmed, later].map(\.split))
            #expect(left.map(\.confirmed) == [true, false, true, false])
            let code = try await code { try await rig.confirm(cutOff) }
            #expect(code == "shares.no_such_split")
            try await rig.confirm(later)
        }
    }

    /// No suspension comes between the phrase and its shares.
    @Test func thePhraseIsGoneBeforeTheSplitIsWritten() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            let seen = SeenPhrase()
            rig.vault.onAnswer = { seen.see($0) }
            rig.beforeTurnEnds = { [unowned rig] in
                guard rig.database.hasOpenBatch else { return }
                seen.looks += 1
                #expect(seen.phrase == nil)
            }
            let id = rig.send(
                SplitWallet(
                    namespace: rig.main, wallet: wallet,
                    holders: rig.holders.prefix(3).map(\.name)),
                token: try rig.token(.reveal(rig.main, wallet)))
            try await rig.finish()
            #expect(seen.count == 1 && seen.looks == 1)
            #expect(try rig.answer(to: id, SplitWallet.self).attachments.count == 3)
        }
    }

    // MARK: The proof

    /// Whoever writes to the store cannot have a proof spent for nothing.
    @Test func aStoredKeyThatIsNoneIsRefusedBeforeTheProofIsSpent() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            let token = try rig.token(.reveal(rig.main, wallet))
            let names = rig.holders.prefix(3).map(\.name)
            let split = SplitWallet(namespace: rig.main, wallet: wallet, holders: names)
            let right = rig.holders[1].publicKey
            let unfit = [
                [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
                Array(right.dropLast()), right + [0], [], rig.holders[0].publicKey,
            ]
            for key in unfit {
                try rig.tamper { database in
                    try database.run(
                        "UPDATE holders SET public_key = ?1 WHERE name = ?2", .blob(key),
                        .text(names[1].text))
                }
                #expect(try await rig.refusal(split, token: token) == "shares.invalid_key")
            }
            #expect(rig.vault.arrived[RevealWallet.method] == nil)
            #expect(rig.authority.spent == 0)
            try rig.tamper { database in
                try database.run(
                    "UPDATE holders SET public_key = ?1 WHERE name = ?2", .blob(right),
                    .text(names[1].text))
            }
            #expect(try await rig.refusal(split, token: token) == "ok")
        }
    }

    @Test func nothingThatCanBeRefusedBeforeSpendsTheProof() async throws {
        try await LoopHarness.run {
            var limits = SharesLimits()
            limits.splitsPerNamespace = 1
            let rig = try Rig(limits: limits)
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            let another = try await rig.bring(Phrase.yellow).wallet
            let token = try rig.token(.reveal(rig.main, wallet))
            let unknown = try #require(WalletID("00000000-0000-4000-8000-000000000000"))
            let names = rig.holders.prefix(3).map(\.name)
            let strangers = SplitWallet(
                namespace: rig.main, wallet: wallet,
                holders: [names[0], names[1], rig.holders[3].name])
            let refused = try await rig.refusal(strangers, token: token)
            #expect(refused == "shares.no_such_holder")
            for (namespace, wallet) in [(rig.spare, wallet), (rig.main, another)] {
                let other = SplitWallet(namespace: namespace, wallet: wallet, holders: names)
                #expect(try await rig.refusal(other, token: token) == "lease.not_authorised")
            }
            #expect(rig.vault.arrived[RevealWallet.method] == nil)
            let gone = SplitWallet(namespace: rig.main, wallet: unknown, holders: names)
            let forGone = try rig.token(.reveal(rig.main, unknown))
            #expect(try await rig.refusal(gone, token: forGone) == "vault.no_such_wallet")
            rig.vault.weather[RevealWallet.method] = .outage
            let split = SplitWallet(namespace: rig.main, wallet: wallet, holders: names)
            #expect(try await rig.refusal(split, token: token) == "shares.vault_unreachable")
            rig.vault.weather = [:]
            #expect(rig.authority.spent == 0)
            // The one proof serves after all of these.
            try await rig.confirm(try await rig.split(wallet, token: token).manifest)
            #expect(rig.authority.spent == 1)
            let full = SplitWallet(namespace: rig.main, wallet: another, holders: names)
            let unspent = try rig.token(.reveal(rig.main, another))
            #expect(try await rig.refusal(full, token: unspent) == "shares.full")
            #expect(rig.authority.spent == 1)
        }
    }

    @Test func aProofServesOnce() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            let token = try rig.token(.reveal(rig.main, wallet))
            _ = try await rig.split(wallet, token: token)
            let code = try await code { try await rig.split(wallet, token: token) }
            #expect(code == "session.ended")
            #expect(rig.authority.spent == 1)
            #expect(try await rig.splits().count == 1)
        }
    }

    @Test func itTakesAProofForBothServicesOfWhoPresentsIt() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            let scope = Scope.reveal(rig.main, wallet)
            let names = rig.holders.prefix(3).map(\.name)
            let split = SplitWallet(namespace: rig.main, wallet: wallet, holders: names)
            let wrong = [
                (try rig.resource(), "lease.not_authorised"),
                (try rig.token(.sign(rig.main, wallet)), "lease.not_authorised"),
                (try rig.settings(), "lease.not_authorised"),
                (try rig.token(scope, audience: [.walletVault]), "session.invalid"),
                (try rig.token(scope, audience: [.backupShares]), "session.invalid"),
                (try rig.token(scope, holder: rig.second), "session.invalid"),
                (try rig.token(scope, owner: rig.other), "session.invalid"),
                ([], "session.invalid"), ([1, 2, 3], "session.invalid"),
            ]
            for (token, code) in wrong {
                #expect(try await rig.refusal(split, token: token) == code)
            }
            let theirs = try rig.token(scope, holder: rig.second)
            #expect(
                try await rig.refusal(split, from: rig.engine, token: theirs) == "bus.forbidden")
            #expect(rig.authority.spent == 0)
            #expect(try await rig.splits() == [])
        }
    }

    // MARK: The way to the vault

    @Test(arguments: [
        (VaultHouse.Weather.lostRequest, 0, Outcome.unknown),
        (.lostAnswer, 1, .unknown),
    ])
    func aSilentVaultLeavesNoManifest(
        _ weather: VaultHouse.Weather, _ spent: Int, _ outcome: Outcome
    ) async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            rig.vault.weather[RevealWallet.method] = weather
            let refusal = await #expect(throws: Refusal.self) {
                _ = try await rig.split(wallet)
            }
            #expect(refusal?.code == "shares.vault_silent")
            #expect(refusal?.outcome == outcome)
            #expect(rig.authority.spent == spent)
            #expect(try await rig.splits() == [])
        }
    }

    /// Counted from before the vault was asked, whenever that got its own leave.
    @Test func aPhraseThatComesTooLateIsDropped() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            rig.vault.onArrival = { method in
                if method == RevealWallet.method { rig.clock.advance(milliseconds: 200) }
            }
            rig.authority.onTheWay = { method in
                if method == "authority.derive" { rig.clock.advance(milliseconds: 60) }
            }
            #expect(try await code { try await rig.split(wallet) } == "lease.over")
            rig.authority.onTheWay = nil
            #expect(rig.vault.timeouts[RevealWallet.method] == 250)
            #expect(try await rig.splits() == [])
            // The vault alone was in time.
            let reveal = RevealWallet(namespace: rig.main, wallet: wallet)
            let shown = try await rig.vault.ask(
                reveal, from: rig.app, owner: rig.owner,
                token: rig.token(.reveal(rig.main, wallet)))
            #expect(shown.attachments.map(\.array) == [Array(Phrase.about.utf8)])
        }
    }

    @Test func whoWasLockedMeanwhileGetsNoShares() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            let token = try rig.token(.reveal(rig.main, wallet))
            let id = rig.send(
                SplitWallet(
                    namespace: rig.main, wallet: wallet,
                    holders: rig.holders.prefix(3).map(\.name)), token: token)
            // The vault has answered, and the shares wait for the end of the turn.
            while !rig.database.hasOpenBatch {
                await LoopHarness.settle()
                try rig.vault.endTurn()
            }
            rig.authority.endAll(of: rig.owner)
            try await rig.finish()
            let code = try await code { try rig.answer(to: id, SplitWallet.self) }
            #expect(code == "session.ended")
        }
    }

    // MARK: Many

    @Test func splitsAtOnceDoNotMix() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let names = rig.holders.prefix(3).map(\.name)
            let wallets = [try await rig.bring(), try await rig.bring(Phrase.yellow)]
            let sent = try (0..<8).map { number in
                let wallet = wallets[number % 2].wallet
                return rig.send(
                    SplitWallet(namespace: rig.main, wallet: wallet, holders: names),
                    token: try rig.token(.reveal(rig.main, wallet)))
            }
            try await rig.finish()
            for (number, id) in sent.enumerated() {
                let answer = try rig.answer(to: id, SplitWallet.self)
                let payloads = try zip(answer.attachments, rig.holders).map { file, holder in
                    try ShareFile(file.array).payload(privateKey: holder.privateKey.bytes)
                }
                let phrase = try PhraseBlock.decode(ShareSplit.combine(payloads))
                #expect(
                    phrase.withBytes { Array($0) }
                        == Array([Phrase.about, Phrase.yellow][number % 2].utf8))
                #expect(answer.reply.wallet.identity == wallets[number % 2].identity)
            }
            #expect(Set(try await rig.splits().map(\.split)).count == 8)
            #expect(rig.authority.spent == 8)
        }
    }

    @Test func listsComeInPages() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            var made: [SplitID] = []
            for _ in 0..<(ListSplits.pageLimit + 2) {
                made.append(try await rig.split(wallet).manifest.split)
            }
            let first = try await rig.ask(
                ListSplits(namespace: rig.main), token: rig.resource()
            ).reply
            #expect(first.more)
            #expect(first.splits.map(\.split) == Array(made.prefix(ListSplits.pageLimit)))
            let second = try await rig.ask(
                ListSplits(namespace: rig.main, after: first.splits.last?.split),
                token: rig.resource()
            ).reply
            #expect(!second.more)
            #expect(second.splits.map(\.split) == Array(made.suffix(2)))
            let nowhere = ListSplits(
                namespace: rig.main, after: SplitID([UInt8](repeating: 9, count: 16)))
            #expect(
                try await rig.refusal(nowhere, token: rig.resource()) == "shares.no_such_split")
        }
    }

    @Test func theLongestPageFitsInAReply() throws {
        let name = try #require(HolderName(String(repeating: "x", count: 64)))
        let digest = [UInt8](repeating: 255, count: 32)
        let manifest = Manifest(
            split: try #require(SplitID([UInt8](repeating: 255, count: 16))),
            wallet: SharedWallet(
                kind: .tonRotation, network: .mainnet,
                identity: [UInt8](repeating: 255, count: 33), words: 24),
            made: 1 << 53, confirmed: false,
            shares: Array(
                repeating: Manifest.Share(
                    holder: name, publicKey: digest, digest: digest, file: digest), count: 3))
        let page = ListSplits.Reply(
            splits: Array(repeating: manifest, count: ListSplits.pageLimit), more: true)
        #expect(page.encoded().count < 65_536)
    }

    /// First an attempt that nobody confirmed, then a split that a later one supersedes, and never
    /// the last confirmed one of a wallet.
    @Test func whatIsSupersededGivesWay() async throws {
        try await LoopHarness.run {
            var limits = SharesLimits()
            limits.splitsPerNamespace = 3
            let rig = try Rig(limits: limits)
            try await rig.addHolders()
            let wallet = try await rig.bring().wallet
            let another = try await rig.bring(Phrase.yellow).wallet
            let first = try await rig.split(wallet).manifest
            try await rig.confirm(first)
            let others = try await rig.split(another).manifest
            try await rig.confirm(others)
            let attempt = try await rig.split(another).manifest
            let second = try await rig.split(wallet).manifest
            #expect(try await rig.splits().map(\.split) == [first, others, second].map(\.split))
            #expect(attempt.split != second.split)
            try await rig.confirm(second)
            let third = try await rig.split(another).manifest
            #expect(try await rig.splits().map(\.split) == [others, second, third].map(\.split))
            try await rig.confirm(third)
            let fourth = try await rig.split(another).manifest
            #expect(try await rig.splits().map(\.split) == [second, third, fourth].map(\.split))
            // Another namespace has room of its own.
            let spare = try await rig.bring(in: rig.spare).wallet
            _ = try await rig.split(spare, in: rig.spare)
        }
    }
}

/// The phrase that left the vault, as long as somebody holds it.
@ServiceLoop
private final class SeenPhrase {
    private(set) weak var phrase: SharedSecret?
    /// How many phrases left.
    private(set) var count = 0
    /// How often it was looked for.
    var looks = 0

    func see(_ reply: ReplyFrames) {
        guard let attachment = reply.attachments.first else { return }
        phrase = attachment
        count += 1
    }
}
