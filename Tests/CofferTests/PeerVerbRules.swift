import Bus
import Home
import TestKit
import Testing
import Wire

@testable import CofferCore

/// Verbs that work on a folder of the home, and what they refuse.
@Suite struct PeerVerbRules {
    @Test(arguments: [
        ["peer", "list"], ["peer", "remove", "app"],
        ["peer", "add", "app", "--role", "app", "--owners", "*", "--generate", "/nowhere"],
        ["state", "import", "coffer.state"], ["state", "export", "--out", "/nowhere/state"],
    ])
    func withoutAnInstallationItIsSaidHowOneIsMade(line: [String]) throws {
        let run = try Fixture().prepare(line)
        let failed = failure { () throws(CommandFailure) in _ = try run.invocation.verb.run(run) }
        #expect(failed?.code == "coffer.no_installation")
        #expect(failed?.exitCode == .unreachable)
        #expect(failed?.refusal.message.contains("`coffer init`") == true)
    }

    /// Words, what is typed, and whether the entry goes.
    @Test(arguments: [
        (["wallet-vault"], [], false), (["wallet-vault"], ["yes"], false),
        (["wallet-vault"], ["wallet-vault"], true), (["wallet-vault", "--yes"], [], true),
        (["coffer"], [], true),
    ])
    func aServicesOwnEntryGoesOnlyAfterAQuestion(
        _ words: [String], _ typed: [String], _ goes: Bool
    ) throws {
        let folder = try TemporaryFolder()
        let home = Home(path: folder.path(of: "home"))
        var maker = InstallationMaker(home: home)
        try maker.make(runPath: nil)
        var fixture = Fixture(lines: typed)
        fixture.home = home.path
        let run = try fixture.prepare(["peer", "remove"] + words)
        let failed = failure { () throws(CommandFailure) in _ = try run.invocation.verb.run(run) }
        #expect((failed == nil) == goes)
        let left = try PeerFolder(path: home.peersPath).list().entries
        #expect(left.contains { $0.name == words[0] } == !goes)
        // Where nobody answers, the reason says what would come of it.
        let isAnswered = !typed.isEmpty || goes
        #expect(isAnswered || failed?.refusal.message.contains("`coffer init`") == true)
        #expect(fixture.person.asked.isEmpty == (words != ["wallet-vault"]))
        let told = fixture.person.asked + run.notes
        #expect(told.allSatisfy { $0.contains("`coffer init`") })
        #expect(told.isEmpty == (words == ["coffer"]))
    }

    @Test func aServiceThatHasNoEntryIsNotAskedAbout() throws {
        let folder = try TemporaryFolder()
        let home = Home(path: folder.path(of: "home"))
        var maker = InstallationMaker(home: home)
        try maker.make(runPath: nil)
        try PeerFolder(path: home.peersPath).remove("migration")
        var fixture = Fixture()
        fixture.home = home.path
        let failed = failure { () throws(CommandFailure) in
            _ = try fixture.run("peer", "remove", "migration")
        }
        #expect(failed?.code == "coffer.peer_refused")
        #expect(fixture.person.asked.isEmpty)
    }
}
