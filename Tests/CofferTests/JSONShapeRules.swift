import AuthorityMessages
import Glibc
import LimiterMessages
import TestKit
import Testing
import VaultMessages
import Wire

@testable import CofferCore

@Suite struct JSONShapeRules {
    @Test func aFailureIsOneObject() throws {
        let failure = CommandFailure(.coolingDown, "Wait.", retryAfterMilliseconds: 5_000)
        #expect(
            String(decoding: failure.json(), as: UTF8.self)
                == #"{"error":{"code":"coffer.cooling_down","message":"Wait.","#
                + #""outcome":"rejected","retry_after_ms":5000}}"#)
        let plain = CommandFailure(VaultFault.full.refusal, kind: .change).json()
        let error = try JSONDocument(plain).object().object("error")
        #expect(try error.string("code") == "vault.full")
        #expect(!error.has("retry_after_ms"))
    }

    @Test func statusNamesServicesCredentialAndKeptSession() throws {
        let object = try Fixture().json("status")
        let services = try object.objects("services")
        #expect(services.count == ServiceName.allCases.count)
        #expect(try services.allSatisfy { try $0.bool("reachable") })
        #expect(try object.object("credential").string("kind") == "digits4")
        #expect(try object.bool("session_kept") == false)
        #expect(try object.string("owner") == "local")
    }

    @Test func aSessionThatTheAuthorityDoesNotKnowIsDropped() throws {
        let fixture = Fixture(secrets: ["1234"])
        _ = try fixture.run("unlock")
        var status = Fixture.status()
        status.sessions = 1
        fixture.services.on(AskStatus.self) { [status] _, _ in Answer(status) }
        #expect(try fixture.json("status").bool("session_kept"))
        fixture.services.on(AskStatus.self) { _, _ in Answer(Fixture.status()) }
        #expect(try fixture.json("status").bool("session_kept") == false)
        #expect(!fixture.keyring.kept.keys.contains { $0.hasSuffix(":main") })
    }

    @Test func aTimeoutThatCannotBeIsToldOnce() {
        let failed = failure { () throws(CommandFailure) in
            _ = try Fixture().run("status", "--timeout", "0")
        }
        #expect(failed?.exitCode == .usage)
    }

    @Test func outputThatIsNotTakenEndsWithOneAndASentence() throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        defer { close(full) }
        for wantsJSON in [false, true] {
            let folder = try TemporaryFolder()
            let path = folder.path(of: "complaints")
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(file) }
            let printer = Printer(wantsJSON: wantsJSON, output: full, complaints: file)
            #expect(
                CofferCommand.finish(try Fixture().prepare(["version"]), printer)
                    == .internalError)
            let said = try DescriptorInput.file(path, limit: 4_096, named: .messageFile)
            #expect(String(decoding: said, as: UTF8.self).contains("coffer.output_failed"))
        }
    }

    @Test func aServiceThatKeepsNothingNamesNoFile() {
        #expect(OwnerPurge.file(in: Array("nothing\n".utf8)) == nil)
        #expect(OwnerPurge.file(in: Array("a\n/x/aside.sqlite\n".utf8)) == "/x/aside.sqlite")
    }

    @Test func probeAndMetricsPrintWhatTheServiceSays() throws {
        let fixture = Fixture()
        fixture.services.on(Metrics<Limiter>.self) { _, _ in
            Answer(MetricsReply(text: "coffer_up 1\n"))
        }
        #expect(try fixture.json("probe", "limiter").bool("healthy"))
        #expect(try fixture.run("metrics", "attempt-limiter").report.text == "coffer_up 1")
        #expect(try fixture.json("metrics", "limiter").string("service") == "attempt-limiter")
        #expect(
            failure { () throws(CommandFailure) in _ = try fixture.run("probe", "x") }?.exitCode
                == .usage)
    }

    @Test func ownersKnownToOneStoreOnlyAreNamedWithTheStore() throws {
        let census = OwnerCensus(known: [
            "ann": [.attemptLimiter, .credentialAuthority, .walletVault],
            "bob": [.credentialAuthority, .attemptLimiter], "eve": [.walletVault],
        ])
        #expect(census.lone.map(\.owner) == ["eve"])
        #expect(census.text.contains("Only wallet-vault knows eve."))
        #expect(!census.text.contains("knows bob"))
        var writer = JSONWriter()
        census.write(to: &writer)
        let owners = try JSONDocument(writer.finish()).object().objects("owners")
        #expect(try owners.map { try $0.bool("only_one") } == [false, false, true])
    }

    @Test func nobodyIsOrdinary() {
        #expect(OwnerCensus(known: [:]).text == "There are no owners.")
    }

    @Test func aDeadServiceIsNamedWithTheCommandThatStartsIt() {
        let fixture = Fixture()
        let failed = failure { () throws(CommandFailure) in
            _ = try fixture.run("sign-policy", "show")
        }
        #expect(failed?.exitCode == .unreachable)
        #expect(failed?.refusal.message.contains("credential-authority") == true)
        #expect(failed?.refusal.message.contains("deploy/launch up") == true)
    }
}
