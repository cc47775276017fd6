import AuthorityMessages
import Secrets
import Testing
import Tokens
import Wire

@testable import CofferCore

/// The verbs of hardware tokens, and unlocking with one.
@Suite struct DeviceKeyVerbRules {
    private static let uri = "pkcs11:serial=1;token=mine"

    private func fixture(
        secrets: [String], enrolled: Bool = true, waiting: [String] = []
    ) -> Fixture {
        let fixture = Fixture(secrets: secrets)
        fixture.services.on(AskDeviceKey.self) { _, _ in
            Answer(
                .init(
                    token: enrolled ? Self.uri : nil, form: enrolled ? .data : nil,
                    waiting: waiting))
        }
        fixture.services.on(EnrolDeviceKey.self) { request, _ in
            Answer(.init(token: Self.uri, form: request.form ?? .data, revision: 3))
        }
        fixture.services.on(RemoveDeviceKey.self) { _, _ in
            Answer(.init(removed: true, revision: 4))
        }
        fixture.services.on(OpenDeviceSession.self) { request, _ in
            Answer(
                .init(remainingMilliseconds: 300_000),
                attachments: [Fixture.secret("device \(request.scope)")])
        }
        return fixture
    }

    @Test func enrollingAsksForPasscodeAndPIN() throws {
        let fixture = fixture(secrets: ["1234", "4321"])
        let json = try fixture.json(
            "device-key", "enroll", "--token", "pkcs11:token=mine", "--form", "ecdh")
        #expect(fixture.person.asked == ["Passcode", "PIN"])
        #expect(try json.string("token") == Self.uri)
        #expect(try json.string("form") == "ecdh")
        let seen = try #require(fixture.services.seen(EnrolDeviceKey.self).first)
        #expect(seen.attachments == [Array("4321".utf8)])
        #expect(seen.token == Array("token of settings".utf8))
        #expect(seen.header.idempotency != nil)
    }

    @Test func aTokenThatAsksItselfIsSentNoPIN() throws {
        let fixture = fixture(secrets: ["1234"])
        _ = try fixture.run("device-key", "enroll", "--token", "pkcs11:token=mine", "--no-pin")
        #expect(try #require(fixture.services.seen(EnrolDeviceKey.self).first).attachments == [])
        _ = try fixture.run("unlock", "--device-key", "--no-pin")
        #expect(
            try #require(fixture.services.seen(OpenDeviceSession.self).first).attachments == [])
        #expect(fixture.person.asked == ["Passcode"])
    }

    @Test func unlockingWithItTriesNoPasscodeAndKeepsTheSession() throws {
        let fixture = fixture(secrets: ["4321"])
        let report = try fixture.run("unlock", "--device-key")
        #expect(fixture.person.asked == ["PIN"])
        #expect(fixture.services.seen(Verify.self).isEmpty)
        #expect(fixture.services.seen(Revoke.self).isEmpty)
        #expect(fixture.keyring.kept.keys.contains { $0.hasSuffix(":main") })
        #expect(report.report.text.contains("unlocked"))
    }

    @Test func nobodyTypesAPINForNothing() throws {
        let fixture = fixture(secrets: ["4321"], enrolled: false)
        let ended = failure { () throws(CommandFailure) in
            _ = try fixture.run("unlock", "--device-key")
        }
        #expect(ended?.code == "device_key.none")
        #expect(fixture.person.asked.isEmpty)
        _ = fixture.person.secrets.popLast()
        fixture.person.secrets = ["1234"]
        _ = try fixture.run("device-key", "remove")
        #expect(fixture.person.asked == ["Passcode"])
    }

    @Test func aLostTokenIsAskedForNoPIN() throws {
        let fixture = fixture(secrets: ["1234"], waiting: [Self.uri])
        let ended = try fixture.run("device-key", "remove", "--lost")
        #expect(fixture.person.asked == ["Passcode"])
        #expect(try #require(fixture.services.seen(RemoveDeviceKey.self).first).attachments == [])
        #expect(ended.notes.count == 1)
    }

    @Test func aFormThatThereIsNotIsNoticed() throws {
        let fixture = fixture(secrets: ["1234"])
        let ended = failure { () throws(CommandFailure) in
            _ = try fixture.run(
                "device-key", "enroll", "--token", "pkcs11:token=mine", "--form", "paper")
        }
        #expect(ended?.code == "coffer.usage")
        #expect(fixture.services.seen(EnrolDeviceKey.self).isEmpty)
    }
}
