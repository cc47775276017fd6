import AuthorityMessages
import LimiterMessages
import MigrationMessages
import SharesMessages
import Testing
import VaultMessages
import Wire

@testable import CofferCore

@Suite struct ExitCodeRules {
    static let catalogue =
        BusFault.catalogue + SessionFault.catalogue + StorageFault.catalogue
        + CredentialFault.catalogue + DeviceKeyFault.catalogue + LeaseFault.catalogue
        + VaultFault.catalogue
        + LimiterFault.catalogue + SharesFault.catalogue + MigrationFault.catalogue
        + ClientFault.catalogue

    /// What the shell is told of a change that was refused; all other codes are `refused`.
    static let expected: [ExitCode: Set<String>] = [
        .internalError: [
            "bus.malformed", "coffer.internal", "coffer.output_failed", "coffer.purge_failed",
            "coffer.file_not_written", "coffer.state_failed",
        ],
        .usage: [
            "coffer.usage", "coffer.file_unreadable",
        ],
        .wrongPasscode: [
            "coffer.wrong_passcode", "coffer.wrong_passphrase", "device_key.wrong_pin",
        ],
        .coolingDown: [
            "coffer.cooling_down", "limiter.rolled_back",
        ],
        .notAuthorised: [
            "bus.forbidden", "bus.unadmitted", "coffer.passcode_needed", "credential.locked",
            "credential.not_authorised",
            "session.ended", "session.invalid", "lease.not_authorised",
            "device_key.pin_locked", "device_key.pin_needed",
        ],
        .unreachable: [
            "bus.unreachable", "coffer.no_installation", "credential.limiter_unreachable",
            "credential.vault_unreachable",
            "lease.authority_unreachable", "migration.vault_unreachable",
            "shares.vault_unreachable", "device_key.no_module", "device_key.no_token",
            "device_key.timed_out", "device_key.token_failed",
        ],
        .outcomeUnknown: [
            "bus.bad_reply", "bus.expired", "bus.in_flight", "bus.internal", "bus.lost",
            "coffer.outcome_unknown", "credential.limiter_silent", "credential.overtaken",
            "lease.unanswered",
            "shares.vault_silent", "storage.failed", "storage.residue",
        ],
        .damaged: [
            "storage.damaged", "device_key.mismatch", "device_key.no_object",
            "coffer.damaged_file", "coffer.unusable_shares",
            "credential.attempts_damaged", "credential.damaged", "credential.missing",
            "credential.invalid_import",
            "credential.secret_missing", "credential.unsupported_version", "limiter.damaged",
            "migration.source_malformed", "shares.other_files", "shares.restoration_damaged",
            "shares.unfit_shares", "vault.envelope_damaged", "vault.identity_mismatch",
        ],
        .interrupted: [
            "coffer.cancelled", "coffer.interrupted", "device_key.cancelled",
        ],
        .refused: [
            "device_key.busy", "device_key.full", "device_key.invalid_uri", "device_key.none",
            "device_key.several_tokens", "device_key.unprotected", "device_key.unsupported",
            "bus.busy", "bus.identity", "bus.interrupted", "bus.key_reused", "bus.oversize",
            "bus.overdue",
            "bus.unknown_method", "bus.unsupported_version", "bus.withdrawn",
            "coffer.ambiguous_wallet", "coffer.installation", "coffer.not_confirmed",
            "coffer.passcode_set", "coffer.peer_refused", "coffer.services_running",
            "coffer.unknown_owner", "coffer.known_owner", "coffer.file_exists",
            "credential.busy_changing", "credential.exists", "credential.invalid_code",
            "credential.no_removal", "credential.removing", "credential.wipe_outstanding",
            "credential.no_passcode",
            "credential.nothing_to_repair", "credential.stale", "limiter.attempt_over",
            "limiter.bad_challenge", "limiter.bad_signature", "limiter.no_such_attempt",
            "limiter.nonce_seen", "limiter.nothing_to_repair", "limiter.numbers_used_up",
            "limiter.other_enrolment", "limiter.other_key", "limiter.unknown_owner",
            "migration.busy", "migration.no_such_run", "migration.no_such_wallet",
            "migration.source_changed", "migration.source_too_large", "migration.source_unreadable",
            "shares.full",
            "shares.holder_exists", "shares.invalid_key", "shares.invalid_phrase",
            "shares.kind_needed", "shares.no_such_holder", "shares.no_such_restoration",
            "shares.restoration_busy",
            "shares.no_such_split", "shares.unexpected_identity",
            "storage.full", "vault.full", "vault.invalid_message", "vault.invalid_path",
            "vault.invalid_phrase", "lease.over", "vault.no_such_wallet",
            "vault.unexpected_identity", "vault.wallet_exists",
        ],
    ]

    @Test(arguments: catalogue.map(\.code))
    func everyCodeHasItsExitCode(code: String) throws {
        let fault = try #require(Self.catalogue.first { $0.code == code })
        let refusal = Refusal(code: code, message: "", outcome: fault.outcome)
        let found = ExitCode(refusal, kind: .change)
        #expect(Self.expected[found]?.contains(code) == true, "\(code) ends with \(found)")
    }

    @Test func theDocumentationSaysTheSame() throws {
        let path = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let bytes = try DescriptorInput.file(
            path + "/docs/errors.md", limit: 1 << 20, named: .messageFile)
        var documented: [String: String] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.filter { $0 != " " && $0 != "`" } }
            if cells.count == 8, cells[1].contains(".") { documented[cells[1]] = cells[4] }
        }
        for fault in Self.catalogue {
            let refusal = Refusal(code: fault.code, message: "", outcome: fault.outcome)
            let exit = ExitCode(refusal, kind: .change).rawValue
            #expect(documented[fault.code] == "\(exit)", "\(fault.code)")
        }
    }

    @Test func everyExpectedCodeExists() {
        let codes = Set(Self.catalogue.map(\.code))
        for (_, expected) in Self.expected { #expect(expected.subtracting(codes).isEmpty) }
    }

    @Test func aNumberIsNeverUsedForTwoMeanings() {
        #expect(
            ExitCode.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130])
    }

    @Test(arguments: [
        (BusFault.expired, MethodKind.read, ExitCode.unreachable),
        (BusFault.expired, MethodKind.fresh, ExitCode.unreachable),
        (BusFault.lost, MethodKind.fresh, ExitCode.unreachable),
        (BusFault.badReply, MethodKind.read, ExitCode.internalError),
        (BusFault.expired, MethodKind.repeatable, ExitCode.outcomeUnknown),
    ])
    func aQuestionHasNoUnknownOutcome(fault: BusFault, kind: MethodKind, expected: ExitCode) {
        #expect(ExitCode(fault.refusal, kind: kind) == expected)
    }

    /// A try that may be counted changes nothing else.
    @Test func aTryThatMayBeCountedIsNoUnknownChange() {
        let silent = CredentialFault.limiterSilent.refusal
        let overtaken = CredentialFault.overtaken.refusal
        #expect(ExitCode(silent, kind: .fresh) == .unreachable)
        #expect(ExitCode(overtaken, kind: .fresh) == .refused)
    }

    @Test func aCodeOfAnotherVersionIsRefusedOrUnknown() {
        let rejected = Refusal(code: "later.thing", message: "", outcome: .rejected)
        let unknown = Refusal(code: "later.thing", message: "", outcome: .unknown)
        #expect(ExitCode(rejected, kind: .change) == .refused)
        #expect(ExitCode(unknown, kind: .change) == .outcomeUnknown)
    }

    @Test func aKnownCodeOfUnknownOutcomeIsUnknown() {
        let refusal = Refusal(code: "lease.over", message: "", outcome: .unknown)
        #expect(ExitCode(refusal, kind: .change) == .outcomeUnknown)
    }

    @Test func ownCodesAreWellFormedOnTheWireAndSayWhatToDo() throws {
        for fault in ClientFault.catalogue {
            let refusal = Refusal(
                code: fault.code, message: fault.meaning, outcome: fault.outcome)
            #expect(try Refusal(decoding: refusal.encoded()) == refusal)
            #expect(fault.meaning.hasSuffix("."))
        }
    }
}
