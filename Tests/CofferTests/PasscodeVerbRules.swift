import AuthorityMessages
import Testing
import Wire

@testable import CofferCore

@Suite struct PasscodeVerbRules {
    private func fixture(_ secrets: [String], kind: PasscodeKind?) -> Fixture {
        let fixture = Fixture(secrets: secrets)
        fixture.services.on(AskStatus.self) { _, _ in Answer(Fixture.status(kind: kind)) }
        fixture.services.on(SetPasscode.self) { _, _ in
            Answer(SetPasscode.Reply(credential: "C", revision: 2, iterations: 600_000))
        }
        return fixture
    }

    @Test func theFirstPasscodeIsSetWithoutASession() throws {
        let fixture = fixture(["1234"], kind: nil)
        _ = try fixture.run("passcode", "set", "--kind", "digits4")
        let seen = try #require(fixture.services.seen(SetPasscode.self).first)
        #expect(seen.token.isEmpty)
        #expect(seen.attachments == [Array("1234".utf8)])
        #expect(fixture.services.seen(Verify.self).isEmpty)
    }

    @Test func aSecondFirstPasscodeIsRefusedBeforeAsking() {
        let fixture = fixture(["1234"], kind: .digits4)
        let failed = failure { () throws(CommandFailure) in
            _ = try fixture.run("passcode", "set")
        }
        #expect(failed?.code == "coffer.passcode_set")
        #expect(fixture.person.asked.isEmpty)
    }

    @Test func aWrongShapeIsToldBeforeAnythingIsSent() {
        for (secrets, line, kind) in [
            (["123"], ["passcode", "set", "--kind", "digits4"], PasscodeKind?.none),
            (["1234", "12345"], ["passcode", "change"], .digits6),
        ] {
            let fixture = fixture(secrets, kind: kind)
            let failed = failure { () throws(CommandFailure) in
                let run = try fixture.prepare(line)
                _ = try run.invocation.verb.run(run)
            }
            #expect(failed?.exitCode == .usage)
            #expect(fixture.services.methods == [AskStatus.method])
        }
    }

    /// What the kind allows is taken, and a person is told what it is worth.
    @Test(arguments: [("x", true), ("äöü", true), ("abcd", false)])
    func aShortTextIsTakenWithAWarning(_ code: String, _ isShort: Bool) throws {
        let fixture = fixture([code], kind: nil)
        let (_, notes) = try fixture.run("passcode", "set")
        #expect(fixture.services.seen(SetPasscode.self).count == 1)
        #expect(notes.contains { $0.contains("has only \(code.count) character") } == isShort)
        #expect(notes.isEmpty != isShort)
    }

    @Test func aChangeProvesTheOldPasscodeKeepsTheKindAndDropsKeptSessions() throws {
        let fixture = fixture(["1234", "1234", "5678"], kind: .digits4)
        _ = try fixture.run("unlock")
        #expect(!fixture.keyring.kept.isEmpty)
        _ = try fixture.run("passcode", "change")
        #expect(fixture.keyring.kept.isEmpty)
        let seen = try #require(fixture.services.seen(SetPasscode.self).first)
        #expect(String(decoding: seen.token, as: UTF8.self).contains("managePasscode"))
        #expect(seen.attachments == [Array("5678".utf8)])
        #expect(fixture.person.asked == ["Passcode", "Passcode", "New passcode"])
    }

    @Test func statusSaysHowThePasscodeStands() throws {
        let fixture = fixture([], kind: .digits6)
        #expect(try fixture.run("passcode", "status").report.text.contains("digits6"))
        #expect(try fixture.json("passcode", "status").string("kind") == "digits6")
    }
}
