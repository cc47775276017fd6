import AuthorityMessages
import Clocks
import Home
import KernelKeyring
import LimiterMessages
import Secrets
import TestKit
import VaultMessages
import Wire

@testable import CofferCore

/// Services that answer what a test says, and remember what they were asked.
final class FakeServices: FrameExchange {
    struct Seen {
        let header: RequestHeader
        let token: [UInt8]
        let attachments: [[UInt8]]
    }

    /// Requests in the order of their coming, without the questions after health.
    private(set) var seen: [Seen] = []
    /// How long every service says that it is up.
    var upMilliseconds: UInt64 = 1
    private var handlers: [String: (RequestFrames) throws -> ReplyFrames] = [:]

    var methods: [String] { seen.map(\.header.method) }

    func seen<R: Request>(_ type: R.Type) -> [Seen] {
        seen.filter { $0.header.method == R.method }
    }

    /// Answers a request; a `Refusal` or `BusFault` that is thrown is the answer.
    func on<R: Request>(
        _ type: R.Type, _ answer: @escaping (R, [UInt8]) throws -> Answer<R>
    ) {
        handlers[R.method] = { frames in
            let header = try RequestHeader(decoding: frames.header)
            do {
                let answer = try answer(try R(decoding: frames.body), frames.token)
                return ReplyFrames(
                    id: header.id, body: answer.reply.encoded(), attachments: answer.attachments)
            } catch let refusal as Refusal {
                return ReplyFrames(id: header.id, refusal: refusal)
            }
        }
    }

    func exchange(
        _ request: RequestFrames, timeoutMilliseconds: UInt64
    ) throws(BusFault) -> ReplyFrames {
        do {
            let header = try RequestHeader(decoding: request.header)
            if header.method.hasSuffix(".health") { return healthy(header) }
            seen.append(
                Seen(
                    header: header, token: request.token,
                    attachments: request.attachments.map { $0.bytes.withBytes { Array($0) } }))
            guard let handler = handlers[header.method] else { throw BusFault.unreachable }
            return try handler(request)
        } catch let fault as BusFault {
            throw fault
        } catch {
            throw .badReply
        }
    }

    private func healthy(_ header: RequestHeader) -> ReplyFrames {
        let health = HealthReply(
            service: "x", version: "1", healthy: true, problem: nil, upMilliseconds: upMilliseconds,
            owners: 0, schema: 1)
        return ReplyFrames(id: header.id, body: health.encoded(), attachments: [])
    }
}

/// A person who types what the test says.
final class FakePerson: Person {
    var secrets: [String]
    var lines: [String]
    private(set) var asked: [String] = []
    /// Of each secret that was asked for, whether `coffer unlock` spares it.
    private(set) var sparedByUnlock: [Bool] = []
    /// Called before a line is answered.
    var beforeLine: () -> Void = {}

    init(secrets: [String] = [], lines: [String] = []) {
        self.secrets = secrets
        self.lines = lines
    }

    func secret(_ question: SecretQuestion) throws(CommandFailure) -> SecretBytes {
        asked.append(question.prompt)
        sparedByUnlock.append(question.isSparedByUnlock)
        guard !secrets.isEmpty else { throw CommandFailure(.cancelled) }
        return SecretBytes(copying: Array(secrets.removeFirst().utf8))
    }

    func line(
        _ question: String, insteadOf option: CommandOption
    ) throws(CommandFailure) -> String {
        asked.append(question)
        beforeLine()
        guard !lines.isEmpty else { throw CommandFailure(.cancelled) }
        return lines.removeFirst()
    }
}

/// A keyring of this process alone, which may be forbidden.
final class FakeKeyring: SessionKeyring {
    private(set) var kept: [String: (value: [UInt8], seconds: UInt32)] = [:]
    var isForbidden = false

    func store(
        _ value: borrowing SecretBytes, name: String, timeoutSeconds: UInt32
    ) throws(KeyringError) {
        guard !isForbidden else { throw .forbidden }
        kept[name] = (value.withBytes { Array($0) }, timeoutSeconds)
    }

    func read(name: String) throws(KeyringError) -> SecretBytes? {
        guard !isForbidden else { throw .forbidden }
        guard let found = kept[name] else { return nil }
        return SecretBytes(copying: found.value)
    }

    func remove(name: String) throws(KeyringError) {
        guard !isForbidden else { throw .forbidden }
        kept[name] = nil
    }
}

/// Signals of a person who wants the command to end.
final class FakeSignals {
    /// Whether one came.
    var came = false
    private(set) var isHeld = false
    /// What a signal would have left open, in the order in which that was noted.
    var leftOpen: [LeftOpen?] = []

    var held: HeldSignals {
        HeldSignals(
            hold: { self.isHeld = true }, release: { self.isHeld = false },
            came: { self.isHeld && self.came })
    }
}

/// All that one run of a command works with.
struct Fixture {
    let services = FakeServices()
    let person: FakePerson
    let keyring = FakeKeyring()
    let clock = FakeBootClock()
    let random = SeededRandom(seed: 1)

    let signals = FakeSignals()
    /// Where progress goes; nowhere if left out.
    var complaints: Int32 = -1

    static let home = "/nowhere/coffer"
    /// Where there is no installation if left out.
    var home = Self.home
    static let wallet = WalletDescription(
        wallet: walletID("11111111-2222-4333-8444-555555555555"), kind: .bip39, label: "savings",
        identity: [UInt8](repeating: 2, count: 33), verified: true, words: 24)

    init(secrets: [String] = [], lines: [String] = []) {
        person = FakePerson(secrets: secrets, lines: lines)
        services.on(AskStatus.self) { _, _ in Answer(Self.status()) }
        services.on(Revoke.self) { _, _ in Answer(RevokedReply(revoked: 1)) }
        verifies()
    }

    static func walletID(_ text: String) -> WalletID {
        guard let id = WalletID(text) else { preconditionFailure("\(text) is no wallet id") }
        return id
    }

    static func status(
        kind: PasscodeKind? = .digits4, waiting: UInt64 = 0
    ) -> AskStatus.Reply {
        AskStatus.Reply(
            credential: "C", kind: kind, protection: true, unlocked: false, sessions: 0,
            failed: 0, remainingMilliseconds: waiting)
    }

    /// Makes every passcode right; the token tells the scope.
    func verifies(failedBefore: UInt64 = 0) {
        services.on(Verify.self) { request, _ in
            Answer(
                .verified(remainingMilliseconds: 300_000, failedBefore: failedBefore),
                attachments: [Self.secret("token of \(request.scope)")])
        }
    }

    static func secret(_ text: String) -> SharedSecret {
        SharedSecret(SecretBytes(copying: Array(text.utf8)))
    }

    /// Runs a command line.
    func run(_ line: String...) throws(CommandFailure) -> (report: Report, notes: [String]) {
        let run = try prepare(line)
        let report = try run.invocation.verb.run(run)
        run.endOwnSessions()
        return (report, run.notes)
    }

    func prepare(_ line: [String]) throws(CommandFailure) -> CommandRun {
        let parsed = try CommandLineParser(verbs: VerbTable.verbs).parse(
            line + ["--home", home])
        guard case .run(let invocation) = parsed else { throw .usage("help") }
        let services = services
        let clock = clock
        let random = random
        let signals = signals
        let parts = CommandParts(
            clock: clock, random: random, person: person, keyring: keyring,
            link: { (_, _) throws(CommandFailure) in services },
            isSilent: { (_, _) throws(CommandFailure) in false }, output: 1,
            complaints: complaints, waitMilliseconds: { clock.advance(milliseconds: $0) },
            noteOpen: { signals.leftOpen.append($0) }, signals: signals.held)
        return CommandRun(invocation, parts: parts, verbs: VerbTable.verbs)
    }

    /// The JSON that `--json` would print.
    func json(_ line: String...) throws -> JSONObject {
        let run = try prepare(line)
        let report = try run.invocation.verb.run(run)
        return try JSONDocument(report.json(notes: run.notes)).object()
    }
}

/// How a command ended that must fail.
func failure(_ body: () throws(CommandFailure) -> Void) -> CommandFailure? {
    do throws(CommandFailure) {
        try body()
        return nil
    } catch {
        return error
    }
}
