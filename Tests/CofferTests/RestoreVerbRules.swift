import AuthorityMessages
import BackupShares
import Crypto
import Glibc
import Secrets
import SharesMessages
import TestKit
import Testing
import VaultMessages
import Wire

@testable import CofferCore

@Suite struct RestoreVerbRules {
    private static let identity = Hex.encode(ShareWorld.identity)

    // MARK: Released files

    @Test func threeReleasedFilesRestoreTheWallet() throws {
        let world = try ShareWorld(secrets: ["1234", "1234", "1234"])
        let files = try released(world)
        let object = try world.fixture.json(
            "backup", "restore", files[2], files[0], files[1], "--expect", Self.identity)
        #expect(try object.string("result") == "installed")
        #expect(world.restored == [ShareWorld.phrase])
        #expect(world.restorations.isEmpty)
    }

    @Test func anIdentityThatNobodyNamedIsShownAndAskedAbout() throws {
        for (line, isRight) in [("yes", true), ("no", false), ("", false)] {
            let world = try ShareWorld(secrets: ["1234", "1234", "1234"], lines: [line])
            let files = try released(world)
            let failed = failure { () throws(CommandFailure) in
                _ = try world.run(["backup", "restore"] + files)
            }
            #expect((failed == nil) == isRight)
            #expect(world.restored.isEmpty != isRight)
            #expect(world.fixture.person.asked.last?.contains(Self.identity) == true)
            if let failed { #expect(failed.code == "coffer.not_confirmed") }
        }
    }

    /// Nobody is asked about what fails anyway, and what stays open is said.
    @Test(arguments: [false, true])
    func aWalletThatIsHereIsToldBeforeAnybodyIsAsked(_ isExpected: Bool) throws {
        let world = try ShareWorld(secrets: ["1234", "1234", "1234"], lines: ["yes"])
        world.hasWallet = true
        let files = try released(world)
        let options = isExpected ? ["--expect", Self.identity] : []
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "restore"] + options + files)
        }
        #expect(failed?.code == "vault.wallet_exists")
        let id = try #require(world.restorations.keys.first)
        #expect(failed?.refusal.message.contains("`coffer backup cancel \(id.text)`") == true)
        #expect(world.fixture.person.lines == ["yes"])
    }

    @Test(arguments: ["", "savings"]) func aLabelIsAskedForWhereThereIsNone(_ label: String) throws
    {
        let world = try ShareWorld(secrets: ["1234", "1234", "1234"], lines: ["yes"])
        let files = try released(world)
        let options = label.isEmpty ? [] : ["--label", label]
        let run = try world.fixture.prepare(["backup", "restore"] + options + files)
        let report = try run.invocation.verb.run(run)
        #expect(run.notes.contains { $0.contains("--label") } == label.isEmpty)
        #expect(world.fixture.person.asked.last?.contains("--label") == label.isEmpty)
        #expect(report.text.contains("savings") != label.isEmpty)
    }

    @Test func withYesNobodyIsAskedAndThatIsNoted() throws {
        let world = try ShareWorld(secrets: ["1234", "1234", "1234"])
        let files = try released(world)
        let run = try world.fixture.prepare(["backup", "restore", "--yes"] + files)
        _ = try run.invocation.verb.run(run)
        #expect(run.notes.contains { $0.contains("Nobody has compared") })
        #expect(world.restored.count == 1)
    }

    @Test func whatTheHomeKnowsIsNotAskedAbout() throws {
        let world = try ShareWorld(secrets: ["1234", "1234", "1234"])
        world.knownIdentity = ShareWorld.identity
        _ = try world.run(["backup", "restore"] + released(world))
        #expect(world.fixture.person.asked.allSatisfy { $0 == "Passcode" || $0 == "Passphrase" })
    }

    @Test func anotherWalletThanTheExpectedIsRefused() throws {
        let world = try ShareWorld(secrets: ["1234", "1234", "1234"])
        let files = try released(world)
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(
                ["backup", "restore", "--expect", String(repeating: "03", count: 33)] + files)
        }
        #expect(failed?.code == "shares.unexpected_identity")
        // The holders need not release again.
        #expect(world.restorations.count == 1)
    }

    @Test func filesThatCannotDoAreNamedBeforeThePasscodeIsAskedFor() throws {
        let world = try ShareWorld(secrets: ["1234", "1234"])
        let files = try released(world)
        let asked = world.fixture.person.asked.count
        try world.change("anna.released") { $0[5] ^= 1 }
        let sealed = world.sharePath(1)
        let cases = [
            ([files[0], files[1], files[2]], ["damaged"]),
            ([files[1], sealed, files[2]], ["sealed"]),
        ]
        for (paths, problems) in cases {
            let failed = failure { () throws(CommandFailure) in
                _ = try world.run(["backup", "restore"] + paths)
            }
            #expect(failed?.exitCode == .damaged)
            #expect(failed?.shares.map(\.problem.text) == problems)
            let json = try JSONDocument(try #require(failed).json()).object()
            #expect(try json.objects("shares").map { try $0.string("problem") } == problems)
        }
        #expect(world.fixture.person.asked.count == asked)
    }

    @Test func whatWasReleasedForAnotherRestorationIsNamed() throws {
        let world = try ShareWorld(secrets: ["1234", "1234", "1234", "1234"])
        let files = try released(world)
        let other = try released(world, suffix: "other", holders: [1])
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "restore", files[0], other[0], files[2]])
        }
        #expect(failed?.shares.map(\.problem.text) == ["other_restoration"])
        #expect(failed?.shares.map(\.holder) == ["bert"])
    }

    @Test func whatTheServiceFindsIsNamedByFile() throws {
        let world = try ShareWorld(secrets: ["1234", "1234", "1234"])
        let files = try released(world)
        world.fixture.services.on(RestoreWallet.self) { _, _ in
            Answer(
                .unusable([
                    .init(file: 2, holder: HolderName("carl"), problem: .wrong),
                    .init(file: 0, holder: nil, problem: .duplicate),
                ]))
        }
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "restore"] + files)
        }
        #expect(failed?.exitCode == .damaged)
        #expect(failed?.shares.map(\.path) == [files[2], files[0]])
        #expect(failed?.refusal.message.contains("(holder carl)") == true)
    }

    @Test func sharesOfAnotherProgramNeedARestorationAndMayNeedAKind() throws {
        let world = try ShareWorld(secrets: ["1234", "1234", "1234"])
        let request = try request(world)
        let payloads = try ShareSplit.split(
            PhraseBlock.encode(SecretBytes(copying: Array(ShareWorld.phrase.utf8))),
            random: KernelRandom())
        for (index, payload) in payloads.enumerated() {
            let envelope = try ShareEnvelope.seal(
                payload.bytes, to: request.publicKey, random: KernelRandom())
            try world.write(envelope.bytes, to: "foreign\(index)")
        }
        let files = (0..<3).map { world.folder.path(of: "foreign\($0)") }
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "restore"] + files)
        }
        #expect(failed?.exitCode == .usage)
        _ = try world.run(
            [
                "backup", "restore", "--restoration", request.restoration.text, "--kind", "bip39",
                "--expect", Self.identity, "--label", "old",
            ] + files)
        #expect(world.restored == [ShareWorld.phrase])
    }

    @Test(arguments: [
        [], ["a", "b"], ["a", "b", "c", "d"], ["a", "b", "c", "--share", "x"],
        ["--share", "x", "--key", "y"], ["--share", "x", "--share", "y", "--share", "z"],
        ["a", "b", "c", "--network", "mainnet"], ["a", "b", "c", "--kind", "dash"],
        ["a", "b", "c", "--kind", "bip39", "--network", "mainnet"],
        ["a", "b", "c", "--kind", "x"], ["a", "b", "c", "--expect", "ab"],
        ["a", "b", "c", "--restoration", "x"], ["a", "b", "c"],
    ])
    func whatCannotBeRightIsToldBeforeAnythingIsAsked(_ options: [String]) throws {
        let world = try ShareWorld()
        let failed = failure { () throws(CommandFailure) in
            _ = try world.run(["backup", "restore"] + options)
        }
        #expect(failed?.exitCode == .usage)
        #expect(world.fixture.person.asked.isEmpty)
        #expect(world.fixture.services.seen.isEmpty)
    }

    @Test func anAnswerThatIsLostAsksForTheList() throws {
        let world = try ShareWorld(secrets: ["1234", "1234", "1234"])
        let files = try released(world)
        world.fixture.services.on(RestoreWallet.self) { _, _ in
            Answer(.installedEarlier(ShareWorld.wallet))
        }
        let report = try world.run(["backup", "restore"] + files)
        #expect(report.text.contains("`coffer wallet list`"))
    }

    // MARK: One run

    @Test func sharesAndKeysRestoreInOneRun() throws {
        let world = try ShareWorld(secrets: ["1234", "bert", "carl", "1234"])
        try world.split()
        _ = try world.run(oneRun(world))
        #expect(world.restored == [ShareWorld.phrase])
        #expect(world.restorations.isEmpty)
        #expect(
            world.fixture.person.asked == ["Passcode", "Passphrase", "Passphrase", "Passcode"])
    }

    @Test func passphrasesComeInTheOrderOfTheKeys() throws {
        let world = try ShareWorld(secrets: ["1234", "1234"])
        try world.split()
        // The first key is in clear; its descriptor is not read.
        _ = try world.run(
            oneRun(world)
                + ["nothing", "bert", "carl"].flatMap {
                    ["--passphrase-fd", world.descriptor($0)]
                })
        #expect(world.restored.count == 1)
    }

    @Test(arguments: [
        SharesFault.unfitShares.refusal, SharesFault.noSuchRestoration.refusal,
        SharesFault.restorationDamaged.refusal, SessionFault.ended.refusal,
        SessionFault.invalid.refusal, BusFault.unreachable.refusal,
    ])
    func whatANewKeyPairMayMendIsTriedOnceMore(_ refusal: Refusal) throws {
        for failures in [1, 2] {
            let world = try ShareWorld(secrets: ["1234", "bert", "carl", "1234"])
            try world.split()
            let before = world.fixture.services.seen(Verify.self).count
            let failing = Failing(failures, refusal)
            world.fixture.services.on(RestoreWallet.self) { request, _ in
                try failing.fail()
                return Answer(.installed(Fixture.wallet))
            }
            let run = try world.fixture.prepare(oneRun(world))
            let failed = failure { () throws(CommandFailure) in
                _ = try run.invocation.verb.run(run)
            }
            let restores = world.fixture.services.seen(RestoreWallet.self)
            #expect(restores.count == 2)
            #expect((failed == nil) == (failures == 1))
            // What came twice is told once, as how the command ended.
            let told = failures == 1 ? "(\(refusal.code)) The second one, with" : "in the same way."
            #expect(run.notes.contains { $0.contains(told) })
            // Each with a key pair of its own, and nothing is left of what failed.
            let begun = world.fixture.services.seen(BeginRestoration.self)
            #expect(begun.count == 2)
            #expect(Set(begun.map(\.header.idempotency)).count == 2)
            #expect(world.restorations.count == (failures == 1 ? 1 : 0))
            #expect(world.fixture.person.asked.filter { $0 == "Passcode" }.count == 2)
            // A session that stands is used again.
            let isOver = SessionFault(rawValue: refusal.code) != nil
            #expect(world.fixture.services.seen(Verify.self).count == before + (isOver ? 2 : 1))
        }
    }

    @Test func aSecondAttemptThatFailsOtherwiseTellsOfBoth() throws {
        let world = try ShareWorld(secrets: ["1234", "bert", "carl", "1234"])
        try world.split()
        var refusals = [SharesFault.unfitShares.refusal, VaultFault.walletExists.refusal]
        world.fixture.services.on(RestoreWallet.self) { _, _ in throw refusals.removeFirst() }
        let run = try world.fixture.prepare(oneRun(world))
        let failed = failure { () throws(CommandFailure) in _ = try run.invocation.verb.run(run) }
        #expect(failed?.code == "vault.wallet_exists")
        #expect(run.notes.contains { $0.contains("(shares.unfit_shares) The second one") })
    }

    /// It may have been counted: one passcode that was typed once is one guess.
    @Test(arguments: [BusFault.expired, .lost, .unreachable])
    func aCheckOfAPasscodeIsNeverRepeated(_ fault: BusFault) throws {
        let world = try ShareWorld(secrets: ["1234", "bert", "carl", "1234"])
        try world.split()
        let before = world.fixture.services.seen(Verify.self).count
        world.fixture.services.on(Verify.self) { _, _ in throw fault }
        let failed = failure { () throws(CommandFailure) in _ = try world.run(oneRun(world)) }
        #expect(failed?.code == fault.rawValue)
        #expect(world.fixture.services.seen(Verify.self).count == before + 1)
        #expect(world.fixture.services.seen(BeginRestoration.self).isEmpty)
    }

    /// Whoever ends the command at the question is told what stays.
    @Test(arguments: [false, true])
    func anInterruptedQuestionLeavesARestorationThatIsNamed(_ isOneRun: Bool) throws {
        let world = try ShareWorld(
            secrets: isOneRun ? ["1234", "bert", "carl", "1234"] : ["1234", "1234", "1234"])
        let files = try isOneRun ? [] : released(world)
        if isOneRun { try world.split() }
        var open: LeftOpen??
        var begun: RestorationID?
        world.fixture.person.beforeLine = {
            open = world.fixture.signals.leftOpen.last
            begun = world.restorations.keys.first
        }
        let line = isOneRun ? oneRun(world).filter { $0 != "--expect" && $0 != Self.identity } : []
        _ = failure { () throws(CommandFailure) in
            _ = try world.run(isOneRun ? line : ["backup", "restore"] + files)
        }
        let id = try #require(begun)
        #expect(open == .some(.restoration(id)))
        #expect(LeftOpen.restoration(id).sentence.contains("`coffer backup cancel \(id.text)`"))
        // An answer that is not yes gives the one of one run up, and nothing is left open then.
        #expect(world.restorations.isEmpty == isOneRun)
        if isOneRun { #expect(world.fixture.signals.leftOpen.last == .some(nil)) }
    }

    @Test(arguments: [
        VaultFault.walletExists.refusal, SharesFault.unexpectedIdentity.refusal,
        SharesFault.kindNeeded.refusal, SharesFault.vaultSilent.refusal,
    ])
    func whatIsDecidedIsNotTriedAgain(_ refusal: Refusal) throws {
        let world = try ShareWorld(secrets: ["1234", "bert", "carl", "1234"])
        try world.split()
        world.fixture.services.on(RestoreWallet.self) { _, _ in throw refusal }
        let failed = failure { () throws(CommandFailure) in _ = try world.run(oneRun(world)) }
        #expect(failed != nil)
        #expect(world.fixture.services.seen(BeginRestoration.self).count == 1)
        // Where the outcome is open, the restoration is left as it is.
        #expect(world.restorations.isEmpty == (refusal.outcome == .rejected))
    }

    @Test func aShareThatCannotBeUsedIsNamedWithItsHolderAndNothingIsBegun() throws {
        let world = try ShareWorld(secrets: ["1234", "bert", "carl"])
        try world.split()
        try world.change("out/bert-a0a1a2a3.share") { $0[$0.count - 3] ^= 1 }
        try world.change("out/carl-a0a1a2a3.share") { $0[$0.count - 4] ^= 1 }
        let run = try world.fixture.prepare(oneRun(world))
        let failed = failure { () throws(CommandFailure) in _ = try run.invocation.verb.run(run) }
        #expect(failed?.exitCode == .damaged)
        #expect(failed?.shares.map(\.holder) == ["bert", "carl"])
        #expect(world.fixture.services.seen(BeginRestoration.self).isEmpty)
        // No key pair was made, so there is nothing to do once more with a new one.
        #expect(run.notes.isEmpty)
    }

    @Test func aShareThatIsMissingIsNamed() throws {
        let world = try ShareWorld(secrets: ["1234", "bert", "carl"])
        try world.split()
        unlink(world.sharePath(1))
        let run = try world.fixture.prepare(oneRun(world))
        let failed = failure { () throws(CommandFailure) in _ = try run.invocation.verb.run(run) }
        #expect(failed?.code == "coffer.file_unreadable")
        #expect(failed?.refusal.message.contains("bert") == true)
        #expect(run.notes.isEmpty)
    }

    /// What the service finds is: the files are read anew.
    @Test func whatTheServiceFindsDamagedIsReadOnceMore() throws {
        let world = try ShareWorld(secrets: ["1234", "bert", "carl", "1234"])
        try world.split()
        var answers = 0
        world.fixture.services.on(RestoreWallet.self) { _, _ in
            answers += 1
            return Answer(
                answers == 1
                    ? .unusable([.init(file: 0, holder: nil, problem: .damaged)])
                    : .installed(Fixture.wallet))
        }
        _ = try world.run(oneRun(world))
        #expect(world.fixture.services.seen(BeginRestoration.self).count == 2)
    }

    // MARK: Parts

    private func oneRun(_ world: ShareWorld) -> [String] {
        ["backup", "restore", "--expect", Self.identity]
            + (0..<3).flatMap {
                ["--share", world.sharePath($0), "--key", world.keyPath($0)]
            }
    }

    private func request(_ world: ShareWorld) throws -> ReleaseRequest {
        let path = world.folder.path(of: "request\(world.fixture.random.next())")
        _ = try world.run(["backup", "request", "--out", path])
        return try #require(ReleaseRequest(world.read(path)))
    }

    /// Splits the wallet if that was not done, begins a restoration, and releases shares for it.
    private func released(
        _ world: ShareWorld, suffix: String = "released", holders: [Int] = [0, 1, 2]
    ) throws -> [String] {
        if access(world.sharePath(0), F_OK) != 0 { try world.split() }
        let request = try request(world)
        return try holders.map { index in
            let file = try ShareFile(world.read(world.sharePath(index)))
            let released = try file.release(
                privateKey: world.seed(index), for: request.restoration.bytes,
                publicKey: request.publicKey, random: KernelRandom())
            let name = "\(world.names[index]).\(suffix)"
            try world.write(released.bytes, to: name)
            return world.folder.path(of: name)
        }
    }
}

/// Fails some times, and then no more.
private final class Failing {
    private var left: Int
    private let refusal: Refusal

    init(_ count: Int, _ refusal: Refusal) {
        left = count
        self.refusal = refusal
    }

    func fail() throws {
        guard left > 0 else { return }
        left -= 1
        throw refusal
    }
}
