import Testing
import Wire

@testable import CofferCore

@Suite struct CommandLineRules {
    private func parse(_ line: String...) throws(CommandFailure) -> Invocation {
        guard case .run(let invocation) = try CommandLineParser(verbs: VerbTable.verbs).parse(line)
        else { throw .usage("That is help.") }
        return invocation
    }

    private func refusal(_ line: String...) -> String? {
        failure { () throws(CommandFailure) in
            _ = try CommandLineParser(verbs: VerbTable.verbs).parse(line)
        }.map { $0.exitCode == .usage ? $0.refusal.message : "exit \($0.exitCode)" }
    }

    @Test func optionsMayStandAnywhere() throws {
        let lines = [
            ["--owner", "bob", "wallet", "check", "AB", "--json"],
            ["wallet", "--owner", "bob", "check", "--json", "AB"],
            ["wallet", "check", "AB", "--json", "--owner=bob"],
        ]
        for line in lines {
            let parsed = try CommandLineParser(verbs: VerbTable.verbs).parse(line)
            guard case .run(let invocation) = parsed else {
                Issue.record("help")
                continue
            }
            #expect(invocation.verb.name == "wallet check")
            #expect(invocation.arguments == ["AB"])
            #expect(invocation[.owner] == "bob")
            #expect(invocation.has(.json))
        }
    }

    @Test func aValueMayBeEmptyOrBeginWithHyphensAfterTheSign() throws {
        let invocation = try parse("wallet", "create", "--label=--x", "--words", "12")
        #expect(invocation[.label] == "--x")
        #expect(try parse("wallet", "create", "--label=")[.label] == "")
    }

    @Test func aSingleHyphenIsAValueAndAWord() throws {
        let invocation = try parse(
            "wallet", "sign", "-", "--scheme", "ed25519", "--path", "m/0'", "--message-file", "-")
        #expect(invocation.arguments == ["-"])
        #expect(invocation[.messageFile] == "-")
    }

    @Test func afterTwoHyphensEverythingIsAWord() throws {
        #expect(try parse("wallet", "check", "--", "--json").arguments == ["--json"])
    }

    @Test(arguments: [
        (["walet", "list"], "`wallet list`"),
        (["statsu"], "`status`"),
        (["unlok"], "`unlock`"),
        (["passcode", "chnage"], "`passcode change`"),
    ])
    func aMistypedVerbIsSuggested(line: [String], meant: String) throws {
        let failure = failure { () throws(CommandFailure) in
            _ = try CommandLineParser(verbs: VerbTable.verbs).parse(line)
        }
        #expect(failure?.exitCode == .usage)
        #expect(failure?.refusal.message.contains("Did you mean \(meant)") == true)
    }

    @Test func aMistypedOptionIsSuggestedEvenWithItsValueBehindIt() {
        #expect(refusal("status", "--ownr", "bob")?.contains("`--owner`") == true)
        #expect(refusal("lock", "--jsno")?.contains("`--json`") == true)
    }

    @Test func anOptionOfAnotherVerbIsRefused() {
        #expect(refusal("status", "--yes")?.contains("has no option `--yes`") == true)
        #expect(refusal("passcode", "status", "--phrase-fd", "3") != nil)
    }

    @Test func nothingFarAwayIsSuggested() {
        #expect(refusal("bitcoin")?.contains("Did you mean") == false)
    }

    @Test func whatIsMissingIsNamed() {
        #expect(refusal("--owner", "bob") != nil)
        #expect(refusal("wallet")?.contains("create, import, list") == true)
        #expect(refusal("wallet", "check")?.contains("wants WALLET") == true)
        #expect(refusal("lock", "--owner")?.contains("--owner wants a value") == true)
        #expect(refusal("lock", "--owner", "--json")?.contains("--owner wants a value") == true)
        #expect(refusal("peer", "add", "x", "--owners", "*")?.contains("--role") == true)
        #expect(refusal("peer", "add", "x", "--role", "app")?.contains("--owners") == true)
    }

    @Test func whatIsTooMuchIsNamed() {
        #expect(refusal("lock", "now")?.contains("`now`") == true)
        #expect(refusal("lock", "--json", "--json")?.contains("twice") == true)
        #expect(refusal("lock", "--json=1")?.contains("takes no value") == true)
    }

    @Test func controlCharactersOfAWordDoNotReachTheTerminal() {
        #expect(refusal("lock", "a\u{1B}[2J")?.contains("\u{1B}") == false)
    }

    @Test func helpComesBeforeComplaints() throws {
        for line in [["wallet", "sign", "--help"], ["wallet", "--help"], ["--help"], ["-h"]] {
            let parsed = try CommandLineParser(verbs: VerbTable.verbs).parse(line)
            guard case .help = parsed else {
                Issue.record("no help for \(line)")
                continue
            }
        }
    }

    @Test func aLineWithoutWordsAsksNothing() throws {
        for line in [[], ["--json"]] {
            let parsed = try CommandLineParser(verbs: VerbTable.verbs).parse(line)
            guard case .nothing = parsed else {
                Issue.record("something for \(line)")
                continue
            }
        }
    }

    @Test func aLineWithoutWordsIsWrongUsageAndAnErrorInJSON() throws {
        let verbs = VerbTable.verbs
        #expect(try HelpText.reportOfNothing(asJSON: false, verbs: verbs).exitCode == .usage)
        let failed = failure { () throws(CommandFailure) in
            _ = try HelpText.reportOfNothing(asJSON: true, verbs: verbs)
        }
        #expect(failed?.exitCode == .usage)
        #expect(failed?.code == "coffer.usage")
    }

    @Test(arguments: [["wallet list"], ["wallet list", "--json"], ["wallet  check AB"]])
    func aVerbInQuotesIsToBeGivenInWordsApart(line: [String]) throws {
        let failed = failure { () throws(CommandFailure) in
            _ = try CommandLineParser(verbs: VerbTable.verbs).parse(line)
        }
        #expect(failed?.exitCode == .usage)
        #expect(failed?.refusal.message.contains("apart") == true)
        #expect(failed?.refusal.message.contains("Did you mean") == false)
    }

    @Test func theVersionIsAnOptionToo() throws {
        #expect(try parse("--version").verb.name == "version")
        #expect(try parse("--version", "--json").has(.json))
        #expect(refusal("lock", "--version") != nil)
    }

    @Test func helpOnAVerbIsThatVerbAloneInJSONToo() throws {
        let parsed = try CommandLineParser(verbs: VerbTable.verbs).parse(
            ["wallet", "sign", "--help", "--json"])
        guard case .help(let topic) = parsed else {
            Issue.record("no help")
            return
        }
        let report = HelpText.report(topic, verbs: VerbTable.verbs)
        let verbs = try JSONDocument(report.json(notes: [])).object().objects("verbs")
        #expect(try verbs.map { try $0.string("name") } == ["wallet sign"])
    }

    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("lock", "lock", 0), ("lokc", "lock", 1), ("unlock", "lock", 2),
        ("kitten", "sitting", 3),
    ])
    func distancesCountChanges(one: String, other: String, distance: Int) {
        #expect(Suggestion.distance(one, other) == distance)
        #expect(Suggestion.distance(other, one) == distance)
    }
}
