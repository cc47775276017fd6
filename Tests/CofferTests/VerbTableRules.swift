import Testing
import Wire

@testable import CofferCore

@Suite struct VerbTableRules {
    @Test func theVerbsAreThoseThatAreDocumented() {
        #expect(
            Set(VerbTable.verbs.map(\.name)) == [
                "status", "passcode set", "passcode change", "passcode status",
                "passcode disable", "passcode import", "protection on", "protection off",
                "device-key enroll", "device-key remove", "device-key status", "unlock", "lock",
                "session list", "session revoke",
                "wallet create", "wallet import", "wallet list", "wallet check", "wallet reveal",
                "wallet sign", "wallet remove", "migrate plan", "migrate apply",
                "migrate verify", "migrate set-aside", "migrate status", "migrate stop",
                "backup split", "backup list", "backup request", "backup requests",
                "backup cancel", "backup restore", "holder keygen", "holder list", "holder add",
                "holder remove", "holder release", "sign-policy show", "sign-policy proof",
                "sign-policy session", "attempts repair", "owner list",
                "owner reset", "owner remove", "owner purge", "state export", "state import",
                "peer add",
                "peer list", "peer remove", "metrics", "probe", "outcome", "init", "version",
                "help",
            ])
        #expect(Set(VerbTable.verbs.map(\.name)).count == VerbTable.verbs.count)
    }

    @Test(arguments: VerbTable.verbs.map(\.name))
    func everyVerbExplainsItself(name: String) throws {
        let verb = try #require(VerbTable.verbs.first { $0.name == name })
        let page = HelpText.text(.verb(verb), verbs: VerbTable.verbs)
        #expect(page.hasPrefix("Usage: coffer \(name)"))
        #expect(verb.summary.hasSuffix("."))
        #expect(verb.help.hasSuffix("."))
        for option in verb.allOptions { #expect(page.contains(option.name)) }
        for argument in verb.arguments { #expect(page.contains(argument.name)) }
    }

    @Test func noVerbTakesAnOptionTwice() {
        for verb in VerbTable.verbs {
            #expect(Set(verb.allOptions).count == verb.allOptions.count, "\(verb.name)")
        }
    }

    @Test func anOptionMeansTheSameEverywhere() {
        var placeholders: [String: String?] = [:]
        for option in VerbTable.verbs.flatMap(\.allOptions) {
            if let known = placeholders[option.name] { #expect(known == option.placeholder) }
            placeholders[option.name] = option.placeholder
        }
    }

    @Test func noOptionTakesASecretItself() {
        for option in VerbTable.verbs.flatMap(\.allOptions)
        where option.name.contains("passcode") || option.name.contains("phrase") {
            #expect(option.name.hasSuffix("-fd"))
        }
    }

    @Test func theOverviewNamesEveryVerbAndExitCode() {
        let text = HelpText.text(.all, verbs: VerbTable.verbs)
        for verb in VerbTable.verbs { #expect(text.contains("  \(verb.name) ")) }
        for code in ExitCode.allCases { #expect(text.contains(code.meaning)) }
    }

    @Test func helpAsJSONListsTheVerbs() throws {
        let object = try Fixture().json("help", "--json")
        let names = try object.objects("verbs").map { try $0.string("name") }
        #expect(names == VerbTable.verbs.map(\.name))
        #expect(try object.objects("exit_codes").count == ExitCode.allCases.count)
    }

    @Test func helpOnAVerbAGroupAndNothing() throws {
        #expect(try Fixture().run("help", "wallet", "sign").report.text.contains("--scheme"))
        #expect(try Fixture().run("help", "wallet").report.text.contains("wallet reveal"))
        #expect(try Fixture().run("help").report.text.contains("Exit codes"))
        #expect(failure { () throws(CommandFailure) in _ = try Fixture().run("help", "x") } != nil)
    }
}
