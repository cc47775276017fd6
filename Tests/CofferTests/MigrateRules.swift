import AuthorityMessages
import Glibc
import MigrationMessages
import TestKit
import Testing
import Tokens
import VaultMessages
import Wire

@testable import CofferCore

/// What a person is shown of a legacy keychain, and how its wallets are taken in.
@Suite struct MigrateRules {
    private static let source = "/legacy/keychain.plist"

    private func run(
        _ fixture: Fixture, _ verb: String, _ options: [String] = []
    ) throws(CommandFailure) -> (report: Report, notes: [String]) {
        let run = try fixture.prepare(["migrate", verb, Self.source] + options)
        let report = try run.invocation.verb.run(run)
        run.endOwnSessions()
        return (report, run.notes)
    }

    /// How a verb failed, with what was noted on the way.
    private func failing(
        _ fixture: Fixture, _ verb: String, _ options: [String] = []
    ) throws -> (failure: CommandFailure?, notes: [String]) {
        let run = try fixture.prepare(["migrate", verb, Self.source] + options)
        let failed = failure { () throws(CommandFailure) in _ = try run.invocation.verb.run(run) }
        return (failed, run.notes)
    }

    // MARK: Plan

    @Test func aPlanShowsEveryWalletOfEveryPageWithItsReasonAndAsksForNothing() throws {
        let fixture = Fixture()
        let migration = FakeMigration(
            fixture, .inLedger, .missing, .listedMainnet, .listedTestnet, .namedByNone,
            .unreadableList, .unsupportedChain, .noList)
        migration.phraseless = 3
        migration.pageSize = 2
        let (report, _) = try run(fixture, "plan")
        #expect(migration.pages == 4)
        for (place, reason) in ClassReason.allCases.enumerated() {
            #expect(report.text.contains("id\(place)"))
            #expect(report.text.contains(reason.shown))
            #expect(report.text.contains(reason.walletClass.shown))
        }
        #expect(report.exitCode == .done)
        #expect(report.text.contains("8 wallets: 2 taken in, 2 to take in, 1 reset, 1 unclear, 2"))
        #expect(report.text.contains("1 of these not in the vault any more"))
        #expect(words(report.text).contains("The app's lists name 3 wallets more, of which"))
        #expect(report.text.contains("launch pending"))
        #expect(fixture.person.asked.isEmpty)
        #expect(!fixture.services.methods.contains { $0.hasPrefix("authority.") })
    }

    @Test func aSourceInWhichNothingIsRecognisedEndsWithSevenAndAsksForNothing() throws {
        for verb in ["plan", "apply", "verify"] {
            let fixture = Fixture(secrets: ["1234"])
            let migration = FakeMigration(fixture)
            migration.rows = 0
            let (report, _) = try run(fixture, verb)
            #expect(report.exitCode == .refused)
            #expect(words(report.text).contains("has nothing of the legacy Dash app"))
            #expect(try fixture.json("migrate", verb, Self.source).bool("recognised") == false)
            #expect(migration.begun.isEmpty)
            #expect(fixture.person.asked.isEmpty)
            migration.rows = 1
            #expect(try fixture.json("migrate", verb, Self.source).bool("recognised"))
        }
    }

    @Test func aPlanIsOneObjectForPrograms() throws {
        let fixture = Fixture()
        let migration = FakeMigration(fixture, .listedMainnet, .namedByNone)
        migration.pageSize = 1
        let object = try fixture.json("migrate", "plan", Self.source)
        #expect(try object.string("source") == Self.source)
        #expect(try object.string("launch") == "pending")
        #expect(try object.hex("digest", count: 32) == migration.digest)
        #expect(try object.object("counts").uint64("orphaned") == 1)
        let wallets = try object.objects("wallets")
        #expect(try wallets.map { try $0.string("class") } == ["listed", "orphaned"])
        #expect(try wallets.map { try $0.string("reason") } == ["listed_mainnet", "named_by_none"])
    }

    @Test func aForeignNameCannotSteerTheTerminal() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        let id = "a\u{1B}[2Jb\u{202E}"
        migration.wallets = [
            .init(id: id, reason: .listedMainnet), .init(id: id + "c", reason: .unreadableList),
        ]
        let failed = RunProgress.Failure(id: id, problem: .phraseInvalid, code: "x\u{1B}.y")
        migration.scripts = [[.finished(1, failures: [failed])]]
        for verb in ["plan", "apply"] {
            let text = try run(fixture, verb).report.text
            #expect(text.contains("a?[2Jb?"))
            #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"))
        }
    }

    @Test func aWalletWithoutANameIsShownAsOne() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture)
        migration.wallets = [.init(id: "", reason: .listedMainnet)]
        migration.scripts = [
            [.finished(1, failures: [RunProgress.Failure(id: "", problem: .phraseInvalid)])]
        ]
        for verb in ["plan", "apply"] {
            let text = try run(fixture, verb).report.text
            #expect(text.split(separator: "\n").contains { $0.hasPrefix("(empty)  ") })
        }
    }

    @Test func aSourceThatChangesBetweenPagesIsNoPlan() throws {
        let fixture = Fixture()
        let migration = FakeMigration(fixture, .listedMainnet, .listedMainnet)
        migration.pageSize = 1
        migration.changes = true
        #expect(try failing(fixture, "plan").failure?.code == "migration.source_changed")
    }

    @Test func theServiceIsGivenThePathFromTheRoot() throws {
        let fixture = Fixture()
        let migration = FakeMigration(fixture)
        _ = try fixture.run("migrate", "plan", "some/keychain.plist")
        let folder = try #require(getcwd(nil, 0))
        defer { free(folder) }
        #expect(migration.sources == ["\(String(cString: folder))/some/keychain.plist"])
        for word in ["", "/" + String(repeating: "x", count: 4_096)] {
            let failed = failure { () throws(CommandFailure) in
                _ = try fixture.run("migrate", "plan", word)
            }
            #expect(failed?.exitCode == .usage)
        }
    }

    @Test func aFileThatTheServiceCannotReadIsNamedWithTheReason() throws {
        let folder = try TemporaryFolder()
        let file = folder.path(of: "file")
        close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        let link = folder.path(of: "link")
        try #require(symlink(file, link) == 0)
        for (path, reason) in [
            (file, "as the user that it runs as"), (link, "is a link"),
            (folder.path, "no ordinary file"), (folder.path(of: "none"), "no such file"),
        ] {
            for verb in ["plan", "apply", "verify"] {
                let fixture = Fixture(secrets: ["1234"])
                fixture.services.on(PlanMigration.self) { _, _ in
                    throw MigrationFault.sourceUnreadable.refusal
                }
                let failed = failure { () throws(CommandFailure) in
                    _ = try fixture.run("migrate", verb, path)
                }
                #expect(failed?.exitCode == .refused)
                #expect(failed?.refusal.message.contains("cannot read `\(path)`. ") == true)
                #expect(failed?.refusal.message.contains(reason) == true, "\(reason)")
                #expect(fixture.person.asked.isEmpty)
            }
        }
    }

    // MARK: Apply

    @Test func allWalletsOfBothNetworksAreTakenInWithOnePasscode() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(
            fixture, .listedMainnet, .listedTestnet, .listedMainnet, .namedByNone)
        migration.scripts = [
            [.running(0, of: 2), .running(1, of: 2), .finished(2)], [.finished(1)],
        ]
        let (report, notes) = try run(fixture, "apply")
        #expect(report.exitCode == .done)
        #expect(notes == [])
        #expect(fixture.person.asked == ["Passcode"])
        #expect(migration.begun.map(\.method) == ["migration.apply", "migration.apply"])
        #expect(migration.begun.map(\.network) == [.mainnet, .testnet])
        #expect(migration.begun.map(\.namespace) == ["dash.mainnet", "dash.testnet"])
        #expect(report.text.contains("Main network: 2 of 2 wallets taken in"))
        #expect(report.text.contains("Test network: 1 of 1 wallet taken in"))
        #expect(report.text.contains("Every wallet of the source is settled"))
        #expect(fixture.services.seen(Revoke.self).count == 2)
        #expect(!fixture.signals.isHeld)
    }

    @Test func eachNetworkHasASessionForItsNamespaceThatTheVaultAndTheMigrationTake() throws {
        let fixture = Fixture(secrets: ["1234"])
        var asked: [Verify] = []
        fixture.services.on(Verify.self) { request, _ in
            asked.append(request)
            return Answer(
                .verified(remainingMilliseconds: 1, failedBefore: 0),
                attachments: [Fixture.secret("token")])
        }
        let migration = FakeMigration(fixture, .listedMainnet, .listedTestnet)
        _ = try run(fixture, "apply", ["--namespace", "a", "--testnet-namespace", "b"])
        #expect(migration.begun.map(\.namespace) == ["a", "b"])
        #expect(
            try asked.map(\.scope) == [
                .resource(#require(Namespace("a"))), .resource(#require(Namespace("b"))),
            ])
        #expect(asked.allSatisfy { Set($0.audience) == [.walletVault, .migration] })
    }

    @Test(arguments: [ClassReason.unreadableList, .unsupportedChain, .noList])
    func whatNoRunSettlesEndsWithSevenAndSaysWhatToDo(reason: ClassReason) throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet, reason)
        let (report, _) = try run(fixture, "apply")
        #expect(report.exitCode == .refused)
        #expect(report.text.contains("NOT settled: 1 of 2 wallets"))
        #expect(report.text.contains("id1"))
        let advice = try #require(reason.advice)
        #expect(words(report.text).contains(words(advice)))
        #expect(migration.begun.count == 1)
    }

    @Test(arguments: WalletProblem.allCases)
    func whatFailedEndsWithSevenAndSaysWhyAndWhatToDo(problem: WalletProblem) throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet, .listedMainnet)
        migration.scripts = [
            [
                .finished(
                    2,
                    failures: [
                        RunProgress.Failure(id: "id1", problem: problem, code: "vault.full")
                    ])
            ]
        ]
        let (report, _) = try run(fixture, "apply")
        #expect(report.exitCode == .refused)
        #expect(report.text.contains("Main network: 1 of 2 wallets taken in"))
        #expect(report.text.contains("id1     \(problem.shown)"))
        #expect(report.text.contains("(vault.full)"))
        #expect(words(report.text).contains("tried again by the next `coffer migrate apply`"))
    }

    @Test func aRowThatCannotBeReadKeepsASourceUnsettled() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        migration.damaged = 2
        let (report, _) = try run(fixture, "apply")
        #expect(report.exitCode == .refused)
        #expect(
            words(report.text).contains("NOT settled: 0 of 1 wallet (1 taken in, 2 damaged rows)"))
        #expect(words(report.text).contains("2 rows of the source cannot be read"))
        #expect(words(report.text).contains("`coffer migrate set-aside SOURCE`"))
    }

    @Test func failuresThatAreNotListedAreCounted() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        var progress = RunProgress.finished(
            300, failures: [RunProgress.Failure(id: "id0", problem: .phraseInvalid)])
        progress.failed = 101
        migration.scripts = [[progress]]
        #expect(try run(fixture, "apply").report.text.contains("and 100 more"))
    }

    @Test func howASourceWithoutWalletsToTakeInStandsIsKeptOnce() throws {
        for reasons in [[], [ClassReason.namedByNone], [.unreadableList], [.inLedger]] {
            let fixture = Fixture(secrets: ["1234"])
            let migration = FakeMigration(fixture)
            migration.wallets = reasons.map { .init(id: "id", reason: $0) }
            migration.scripts = [[.finished(0)]]
            let first = try run(fixture, "apply").report
            #expect(first.exitCode == (reasons == [.unreadableList] ? .refused : .done))
            #expect(migration.begun.map(\.network) == [.mainnet])
            migration.status.sources = [
                .init(
                    digest: migration.digest, path: Self.source, done: true,
                    deferredUnknownChain: false, deferredFailure: false, lastRun: 1,
                    counts: migration.counts)
            ]
            let second = try run(fixture, "apply").report
            #expect(second.text == first.text)
            #expect(second.exitCode == first.exitCode)
            #expect(migration.begun.count == 1)
            #expect(fixture.person.asked.count == 1)
            // What was set aside is taken back.
            migration.status.sources[0].setAside = true
            fixture.person.secrets = ["1234"]
            _ = try run(fixture, "apply")
            #expect(migration.begun.count == 2)
        }
    }

    @Test func whatWasAppliedIsOneObjectForPrograms() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet, .listedMainnet, .noList)
        migration.scripts = [
            [
                .finished(
                    2, failures: [RunProgress.Failure(id: "id1", problem: .phraseMissing)])
            ]
        ]
        let object = try fixture.json("migrate", "apply", Self.source, "--json")
        #expect(try object.bool("settled") == false)
        #expect(try object.object("counts").uint64("in_ledger") == 1)
        let network = try #require(try object.objects("networks").first)
        #expect(try network.uint64("succeeded") == 1)
        #expect(try network.objects("failures").first?.string("problem") == "phrase_missing")
        #expect(try object.objects("stuck").map { try $0.string("id") } == ["id2"])
    }

    @Test func namespacesThatCannotBeAreToldBeforeAnythingIsAsked() throws {
        for option in ["--namespace", "--testnet-namespace"] {
            let fixture = Fixture(secrets: ["1234"])
            _ = FakeMigration(fixture, .listedMainnet)
            #expect(try failing(fixture, "apply", [option, "a b"]).failure?.exitCode == .usage)
            #expect(fixture.services.seen.isEmpty)
        }
    }

    @Test func whatTheVaultLostComesInAgainAndIsTold() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .inLedger, .missing)
        migration.status.mainnet = 2
        var progress = RunProgress.finished(1)
        progress.again = 1
        migration.scripts = [[progress]]
        let (report, _) = try run(fixture, "apply")
        #expect(report.exitCode == .done)
        #expect(migration.begun.map(\.again) == [true])
        #expect(migration.begun.map(\.network) == [.mainnet])
        #expect(
            words(report.text).contains(
                "1 of 1 wallet taken in (namespace dash.mainnet), 1 of them again: the vault had"))
        #expect(words(report.text).contains("Every wallet of the source is settled (2 taken in)"))
    }

    @Test func whatTheVaultLostAndDidNotComeInAgainEndsWithSeven() throws {
        for failed in [true, false] {
            let fixture = Fixture(secrets: ["1234"])
            let migration = FakeMigration(fixture, .inLedger, .missing)
            migration.status.mainnet = 2
            let failure = RunProgress.Failure(id: "id1", problem: .phraseInvalid)
            migration.scripts = [[failed ? .finished(1, failures: [failure]) : .stuck]]
            // One that was taken in elsewhere comes in again there alone.
            migration.namespaces = ["dash.mainnet", failed ? "dash.mainnet" : "dm2"]
            let (report, _) = try run(fixture, "apply")
            #expect(report.exitCode == .refused)
            let told = words(report.text)
            #expect(told.contains("NOT whole: 1 wallet is not in the vault any more"))
            #expect(told.contains("--namespace or --testnet-namespace") == !failed)
        }
    }

    // MARK: Runs that end early

    @Test func aRunWhoseSessionEndedIsBegunAgainWithThePasscodeThatWasTyped() throws {
        for code in ["session.ended", "session.invalid", "credential.locked"] {
            let fixture = Fixture(secrets: ["1234"])
            let migration = FakeMigration(fixture, .listedMainnet)
            migration.scripts = [
                [.running(3, of: 10), .failed(code, 4, of: 10)],
                [.running(1, of: 6), .failed(code, 2, of: 6)], [.finished(4)],
            ]
            let (report, _) = try run(fixture, "apply")
            #expect(migration.begun.count == 3)
            #expect(fixture.person.asked == ["Passcode"])
            #expect(fixture.services.seen(Verify.self).count == 3)
            #expect(report.text.contains("Main network: 10 of 10 wallets taken in"))
            #expect(report.exitCode == .done)
        }
    }

    @Test func aRunThatGetsNowhereIsNotBegunForEver() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        migration.scripts = [[.failed("session.ended", 0, of: 10)]]
        let (failed, _) = try failing(fixture, "apply")
        #expect(failed?.exitCode == .notAuthorised)
        #expect(failed?.refusal.outcome == .rejected)
        #expect(migration.begun.count == 3)
    }

    @Test func aRunThatAStartOfTheServiceEndedIsBegunAgain() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        migration.scripts = [[], [.finished(1)]]
        #expect(try run(fixture, "apply").report.exitCode == .done)
        #expect(migration.begun.count == 2)
    }

    @Test func whoLocksTheOwnerEndsTheRunForGood() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        fixture.services.on(AskStatus.self) { _, _ in Answer(Fixture.status()) }
        fixture.services.upMilliseconds = 1_000_000
        migration.scripts = [[.running(3, of: 10), .failed("session.ended", 4, of: 10)]]
        let (failed, notes) = try failing(fixture, "apply")
        #expect(failed?.code == "credential.locked")
        #expect(failed?.exitCode == .notAuthorised)
        #expect(migration.begun.count == 1)
        #expect(notes.contains { $0.contains("4 of 10 wallets taken in") })
    }

    @Test func anAuthorityThatWasStartedAnewEndsNoRunForGood() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        fixture.services.on(AskStatus.self) { _, _ in Answer(Fixture.status()) }
        migration.scripts = [
            [.running(3, of: 10), .failed("session.ended", 4, of: 10)], [.finished(6)],
        ]
        #expect(try run(fixture, "apply").report.exitCode == .done)
        #expect(migration.begun.count == 2)
    }

    @Test func aSignalStopsTheRunAndSaysHowFarItCame() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet, .listedTestnet)
        migration.scripts = [[.running(1, of: 10), .running(3, of: 10)]]
        var asked = 0
        migration.onFollow = {
            asked += 1
            if asked == 3 { fixture.signals.came = true }
        }
        let (failed, notes) = try failing(fixture, "apply")
        #expect(failed?.exitCode == .interrupted)
        #expect(failed?.refusal.message.contains("the run is stopped") == true)
        #expect(failed?.refusal.message.contains("`coffer migrate apply` goes on") == true)
        #expect(failed?.refusal.outcome == .unknown)
        #expect(notes == ["Main network: 3 of 10 wallets taken in (namespace dash.mainnet)."])
        #expect(fixture.services.seen(StopRun.self).count == 1)
        #expect(migration.begun.count == 1)
        #expect(!fixture.signals.isHeld)
    }

    /// It may have been counted, though the passcode was right before.
    @Test func aCheckOfAPasscodeWhoseAnswerIsLostBeginsNoOtherRun() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        migration.scripts = [[.failed("session.ended", 4, of: 10)], [.finished(6)]]
        var checks = 0
        fixture.services.on(Verify.self) { _, _ in
            checks += 1
            guard checks == 1 else { throw BusFault.lost }
            return Answer(
                .verified(remainingMilliseconds: 300_000, failedBefore: 0),
                attachments: [Fixture.secret("token")])
        }
        let (failed, _) = try failing(fixture, "apply")
        #expect(failed?.code == "bus.lost")
        #expect(checks == 2)
        #expect(migration.begun.count == 1)
    }

    /// The second one waits for nothing, so that what it says is ready before.
    @Test func aSecondSignalSaysThatTheRunMayGoOn() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        migration.scripts = [[.running(1, of: 10), .running(3, of: 10)]]
        var said = ""
        migration.onFollow = {
            fixture.signals.came = true
            said = (fixture.signals.leftOpen.last ?? nil)?.sentence ?? ""
        }
        _ = try failing(fixture, "apply")
        #expect(said.contains("`coffer migrate status` tells"))
        #expect(said.contains("`coffer migrate apply` goes on"))
    }

    @Test func aSignalAtTheEndOfOneNetworkKeepsTheNextFromBeginning() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet, .listedTestnet)
        migration.onFollow = { fixture.signals.came = true }
        let (failed, notes) = try failing(fixture, "apply")
        #expect(failed?.exitCode == .interrupted)
        #expect(migration.begun.map(\.network) == [.mainnet])
        #expect(notes == ["Main network: 1 of 1 wallet taken in (namespace dash.mainnet)."])
    }

    @Test func aRunThatDoesNotStopIsNotWaitedForWithoutEnd() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        migration.scripts = [[.running(1, of: 10)]]
        fixture.services.on(StopRun.self) { _, _ in throw BusFault.lost }
        migration.onFollow = { fixture.signals.came = true }
        let (failed, _) = try failing(fixture, "apply")
        #expect(failed?.exitCode == .interrupted)
        #expect(failed?.refusal.message.contains("`coffer migrate status`") == true)
    }

    @Test func aRunThatSomebodyElseStoppedIsNotBegunAgain() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        migration.scripts = [[.stopped(2, of: 10)]]
        let (failed, _) = try failing(fixture, "apply")
        #expect(failed?.exitCode == .interrupted)
        #expect(failed?.refusal.message.contains("Another command stopped the run.") == true)
        #expect(migration.begun.count == 1)
    }

    @Test(arguments: [
        ("migration.vault_unreachable", ExitCode.unreachable),
        ("migration.source_changed", .refused), ("storage.damaged", .damaged),
        ("storage.failed", .outcomeUnknown), ("later.thing", .outcomeUnknown),
    ])
    func aRunThatCannotGoOnEndsAsItsCodeSays(code: String, exit: ExitCode) throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        migration.scripts = [[.failed(code, 4, of: 10)]]
        let (failed, notes) = try failing(fixture, "apply")
        #expect(failed?.exitCode == exit)
        #expect(failed?.refusal.outcome == .unknown)
        #expect(notes.contains { $0.contains("4 of 10 wallets taken in") })
        #expect(migration.begun.count == 1)
    }

    @Test func aRunOfAnotherCommandIsNamedWithTheVerbThatStopsIt() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        fixture.services.on(ApplyMigration.self) { _, _ in throw MigrationFault.busy.refusal }
        let (failed, _) = try failing(fixture, "apply")
        #expect(failed?.exitCode == .refused)
        #expect(failed?.refusal.message.contains("`coffer migrate stop`") == true)
        #expect(migration.begun.isEmpty)
    }

    @Test func aServiceThatIsSilentForAWhileIsAskedAgain() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        var silences = 3
        fixture.services.on(FollowRun.self) { _, _ in
            guard silences == 0 else {
                silences -= 1
                throw BusFault.unreachable
            }
            migration.settle()
            return Answer(.finished(1))
        }
        #expect(try run(fixture, "apply").report.exitCode == .done)
        silences = .max
        fixture.person.secrets = ["1234"]
        migration.wallets = [.init(id: "x", reason: .listedMainnet)]
        #expect(try failing(fixture, "apply").failure?.exitCode == .unreachable)
    }

    @Test func aBeginningWhoseAnswerIsLostIsFoundAgain() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        migration.scripts = [[.finished(1)]]
        fixture.services.on(ApplyMigration.self) { _, _ in throw BusFault.lost }
        fixture.services.on(AskOutcome<Migration>.self) { _, _ in
            Answer(OutcomeReply(status: .done, code: nil))
        }
        migration.status.running = FakeMigration.running
        fixture.services.on(FollowRun.self) { _, _ in
            migration.settle()
            return Answer(.finished(1))
        }
        #expect(try run(fixture, "apply").report.exitCode == .done)
        #expect(fixture.services.seen(AskOutcome<Migration>.self).count == 1)
    }

    // MARK: Progress

    /// What one run says while it goes on.
    private func progress(to descriptor: Int32, _ options: String...) throws {
        var fixture = Fixture(secrets: ["1234"])
        fixture.complaints = descriptor
        let migration = FakeMigration(fixture, .listedMainnet)
        migration.scripts = [
            (0...100).map { .running($0, of: 100) } + [.finished(100)]
        ]
        _ = try run(fixture, "apply", options)
    }

    @Test func withoutATerminalProgressIsALineForEachTenthButTheLast() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "progress")
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        try progress(to: file, "--json")
        #expect(try DescriptorInput.file(path, limit: 4_096, named: .messageFile) == [])
        try progress(to: file)
        let said = try DescriptorInput.file(path, limit: 4_096, named: .messageFile)
        let lines = String(decoding: said, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 10)
        #expect(lines.first == "Main network: 0 of 100 wallets")
        // That it is through, the report says.
        #expect(lines.last == "Main network: 90 of 100 wallets")
    }

    @Test func aRunThatIsBegunAgainRepeatsNoLine() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "progress")
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        var fixture = Fixture(secrets: ["1234"])
        fixture.complaints = file
        let migration = FakeMigration(fixture, .listedMainnet)
        // Of the first fifty, ten failed, which the second run tries again.
        migration.scripts = [
            (0...50).map { .running($0, of: 100) } + [.failed("session.ended", 50, of: 100)],
            (0...60).map { .running($0, of: 60) } + [.finished(60)],
        ]
        _ = try run(fixture, "apply")
        let said = try DescriptorInput.file(path, limit: 4_096, named: .messageFile)
        let lines = String(decoding: said, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 10)
        #expect(Set(lines).count == lines.count)
    }

    @Test func onATerminalProgressIsOneLineThatIsTakenAwayAtTheEnd() throws {
        let (ours, theirs) = try terminal()
        defer {
            close(ours)
            close(theirs)
        }
        try progress(to: theirs)
        // A terminal gives what it has, not all that was written.
        var bytes = [UInt8](repeating: 0, count: 16_384)
        var count = 0
        var item = pollfd(fd: ours, events: Int16(POLLIN), revents: 0)
        while count < bytes.count, poll(&item, 1, 200) > 0 {
            let more = bytes[count...].withUnsafeMutableBytes {
                read(ours, $0.baseAddress, $0.count)
            }
            guard more > 0 else { break }
            count += more
        }
        let said = String(decoding: bytes[..<count], as: UTF8.self)
        #expect(!said.contains("\n"))
        #expect(said.contains("\rMain network: 57 of 100 wallets"))
        #expect(said.hasSuffix("\r" + String(repeating: " ", count: 32) + "\r"))
    }

    private func terminal() throws -> (ours: Int32, theirs: Int32) {
        var ours: Int32 = -1
        var theirs: Int32 = -1
        try #require(openpty(&ours, &theirs, nil, nil, nil) == 0)
        return (ours, theirs)
    }

    // MARK: Verify, status, stop

    @Test func whatVerifiesEndsWithZeroAndWhatDoesNotWithNine() throws {
        let fixture = Fixture(secrets: ["1234", "1234"])
        let migration = FakeMigration(fixture, .inLedger, .inLedger)
        migration.status.mainnet = 1
        migration.status.testnet = 1
        let (good, _) = try run(fixture, "verify")
        #expect(good.exitCode == .done)
        #expect(good.text.contains("Test network: 1 of 1 wallet verified"))
        #expect(migration.begun.map(\.method) == ["migration.verify", "migration.verify"])
        #expect(fixture.person.asked == ["Passcode"])
        migration.scripts = [
            [.finished(1)],
            [
                .finished(
                    1, failures: [RunProgress.Failure(id: "id1", problem: .identityDiffers)])
            ],
        ]
        let (bad, _) = try run(fixture, "verify")
        #expect(bad.exitCode == .damaged)
        #expect(bad.text.contains("NOT verified: 1 of 2 wallets"))
        #expect(bad.text.contains(WalletProblem.identityDiffers.shown))
        #expect(words(bad.text).contains("remove it with `coffer wallet remove`, and `coffer"))
    }

    @Test func aWalletThatTheVaultLostIsToldWithTheVerbThatTakesItInAgain() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .inLedger, .inLedger)
        migration.status.mainnet = 2
        let failure = RunProgress.Failure(
            id: "id1", problem: .vaultRefused, code: "vault.no_such_wallet")
        migration.scripts = [[.finished(2, failures: [failure])]]
        migration.onFollow = {
            migration.wallets[1] = .init(id: "id1", reason: .missing)
        }
        migration.keepsMissing = true
        let (report, _) = try run(fixture, "verify")
        #expect(report.exitCode == .damaged)
        #expect(
            words(report.text).contains(
                "1 wallet of the source the vault does not have any more: `coffer migrate apply`"))
        #expect(!report.text.contains("cannot open"))
    }

    @Test func whereNothingWasTakenInNothingIsVerifiedAndNobodyAsked() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .listedMainnet)
        let (report, _) = try run(fixture, "verify")
        #expect(report.exitCode == .refused)
        #expect(report.text.contains("Nothing of this source was taken in"))
        let object = try fixture.json("migrate", "verify", Self.source)
        #expect(try object.bool("verified") == false)
        #expect(try object.uint64("wallets") == 0)
        #expect(fixture.person.asked.isEmpty)
        #expect(migration.begun.isEmpty)
    }

    @Test func whatWasTakenIntoAnotherNamespaceIsNotTakenForVerified() throws {
        let fixture = Fixture(secrets: ["1234", "1234"])
        let migration = FakeMigration(fixture, .inLedger, .inLedger)
        migration.status.mainnet = 2
        migration.namespaces = ["dm2"]
        migration.scripts = [[.finished(1)]]
        let (report, _) = try run(fixture, "verify")
        #expect(report.exitCode == .refused)
        #expect(
            words(report.text).contains(
                "1 wallet of the source was taken into another namespace (dm2)."))
        let object = try fixture.json("migrate", "verify", Self.source)
        #expect(try object.uint64("elsewhere") == 1)
        #expect(try object.bool("verified") == false)
    }

    @Test func whatWasTakenIntoAnotherNamespaceIsNotTakenForSettledAndThere() throws {
        let fixture = Fixture(secrets: ["1234", "1234", "1234", "1234"])
        let migration = FakeMigration(fixture, .inLedger, .inLedger, .inLedger)
        migration.status.mainnet = 3
        migration.namespaces = ["a1", "a1", "b2"]
        migration.scripts = [[.finished(0)]]
        let (report, _) = try run(fixture, "apply", ["--namespace", "dm2"])
        #expect(report.exitCode == .refused)
        let told = words(report.text)
        #expect(told.contains("3 wallets of the source were taken into another namespace (a1, b2)"))
        #expect(told.contains("did not look there whether the vault still has them"))
        #expect(!told.contains("Every wallet of the source is settled"))
        #expect(!told.contains("did not come in again"))
        let object = try fixture.json("migrate", "apply", Self.source, "--namespace", "dm2")
        #expect(try object.bool("settled") == false)
        #expect(try object.uint64("elsewhere") == 3)
        let places = try object.objects("elsewhere_places")
        #expect(try places.map { try $0.string("namespace") } == ["a1", "b2"])
        #expect(try places.map { try $0.uint64("wallets") } == [2, 1])
        // Where all of them were looked for, none is elsewhere.
        migration.namespaces = ["dm2", "dm2", "dm2"]
        let (whole, _) = try run(fixture, "apply", ["--namespace", "dm2"])
        #expect(whole.exitCode == .done)
        #expect(
            try fixture.json("migrate", "apply", Self.source, "--namespace", "dm2")
                .uint64("elsewhere") == 0)
    }

    @Test func aVerificationWhoseSessionEndedBeginsAnewAndCountsNothingTwice() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .inLedger)
        migration.status.mainnet = 10
        migration.wallets = (0..<10).map { .init(id: "id\($0)", reason: .inLedger) }
        migration.scripts = [[.failed("session.ended", 4, of: 10)], [.finished(10)]]
        let object = try fixture.json("migrate", "verify", Self.source)
        #expect(try object.bool("verified"))
        #expect(try object.objects("networks").first?.uint64("succeeded") == 10)
    }

    @Test func statusShowsSourcesLedgerAndTheRunUnderWay() throws {
        let fixture = Fixture()
        let migration = FakeMigration(fixture)
        #expect(
            try fixture.run("migrate", "status").report.text.contains("No source was run over"))
        migration.status = AskMigrationStatus.Reply(
            sources: [
                .init(
                    digest: [UInt8](repeating: 0xCD, count: 32), path: "/a\u{1B}b", done: false,
                    deferredUnknownChain: true, deferredFailure: true, lastRun: 1_790_000_000,
                    counts: ClassCounts(inLedger: 2, undetermined: 1))
            ], mainnet: 5, testnet: 1, missing: 2,
            running: FakeMigration.running)
        fixture.services.on(FollowRun.self) { _, _ in Answer(.running(3, of: 10)) }
        let (report, _) = try fixture.run("migrate", "status")
        for part in [
            "cdcdcdcdcdcdcdcd  ", "failures, and wallets wait", "3 wallets: 2 taken in, 1 unclear",
            "2026-09-21 14:13:20", "/a?b", "5 of the main network, 1 of the test network",
            "3 of 10 wallets", "`coffer migrate stop`", "(another file now)",
            "since 2026-09-21 14:15:00 UTC: apply, main network, /legacy/keychain.plist",
            "The vault has 2 wallets of them no longer",
        ] {
            #expect(words(report.text).contains(words(part)), "\(part)")
        }
        let object = try fixture.json("migrate", "status")
        #expect(try object.objects("sources").first?.string("file") == "another")
        #expect(try object.object("running").string("aim") == "apply")
        #expect(try object.object("progress").uint64("done") == 3)
        #expect(try object.uint64("mainnet") == 5)
        #expect(fixture.person.asked.isEmpty)
    }

    @Test func statusShowsASourceAsItStandsNow() throws {
        let fixture = Fixture()
        let migration = FakeMigration(fixture, .inLedger, .listedMainnet)
        func source(_ digest: [UInt8]) -> AskMigrationStatus.Reply.Source {
            .init(
                digest: digest, path: Self.source, done: true, deferredUnknownChain: false,
                deferredFailure: false, lastRun: 1_790_000_000,
                counts: ClassCounts(inLedger: 7))
        }
        migration.status.sources = [source(migration.digest)]
        let (report, _) = try fixture.run("migrate", "status")
        #expect(report.text.contains("not done"))
        #expect(report.text.contains("2 wallets: 1 taken in, 1 to take in"))
        #expect(report.text.contains("2026-09-21 14:13:20"))
        #expect(report.text.contains("No run is under way."))
        let entry = try #require(
            try fixture.json("migrate", "status").objects("sources").first)
        #expect(try entry.string("file") == "same")
        #expect(try entry.object("counts").uint64("in_ledger") == 7)
        #expect(try entry.object("counts_now").uint64("listed") == 1)
        #expect(try entry.string("launch") == "pending")

        migration.settle()
        #expect(try fixture.run("migrate", "status").report.text.contains("  done  "))
        fixture.services.on(PlanMigration.self) { _, _ in
            throw MigrationFault.sourceUnreadable.refusal
        }
        let gone = try fixture.run("migrate", "status").report.text
        #expect(gone.contains("(cannot be read now)"))
        #expect(gone.contains("7 wallets: 7 taken in"))
        // Not every source that ever was is read.
        migration.status.sources = (0..<20).map { _ in source(migration.digest) }
        let pages = fixture.services.seen(PlanMigration.self).count
        #expect(
            try fixture.run("migrate", "status").report.text.contains("(not looked at)"))
        #expect(fixture.services.seen(PlanMigration.self).count == pages + SourceNow.limit)
    }

    @Test func aSourceOfWhichNothingMoreCanComeIsSetAside() throws {
        let fixture = Fixture(secrets: ["1234"])
        let migration = FakeMigration(fixture, .unreadableList, .inLedger)
        var asked: [SetSourceAside] = []
        fixture.services.on(SetSourceAside.self) { request, _ in
            asked.append(request)
            return Answer(Empty())
        }
        let told = words(try run(fixture, "set-aside").report.text)
        #expect(told.contains("is set aside: 1 wallet of it stays where it is"))
        #expect(asked.map(\.digest) == [migration.digest])
        let token = String(
            decoding: fixture.services.seen(SetSourceAside.self)[0].token, as: UTF8.self)
        #expect(token.contains("settings"))
        migration.launch = .absent
        let plan = words(try run(fixture, "plan").report.text)
        #expect(plan.contains("set aside, and `coffer migrate apply` takes that back"))
        migration.settle()
        #expect(try run(fixture, "set-aside").report.text.contains("nothing to set aside"))
        #expect(!(try run(fixture, "plan").report.text.contains("set aside")))
        migration.rows = 0
        let other = try run(fixture, "set-aside").report
        #expect(other.exitCode == .refused)
        #expect(words(other.text).contains("has nothing of the legacy Dash app"))
        #expect(asked.count == 1)
    }

    @Test func aRunWhoseCommandIsGoneCanBeStopped() throws {
        let fixture = Fixture()
        let migration = FakeMigration(fixture)
        #expect(try fixture.json("migrate", "stop").bool("stopped") == false)
        migration.status.running = FakeMigration.running
        #expect(try fixture.json("migrate", "stop").string("run") == FakeMigration.run.text)
        #expect(fixture.services.seen(StopRun.self).count == 1)
    }

    /// A text without its line breaks.
    private func words(_ text: String) -> String {
        text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    }
}
