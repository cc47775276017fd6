public import Clocks
internal import Crypto
public import LimiterMessages
public import Loop
public import Secrets
public import Serving
public import Storage
public import Wire

/// The attempt limiter: the only place where a device secret is used, and every use is charged
/// before it is answered.
///
/// A reply leaves after its turn's commit, which the host sees to; so a charge is durable before
/// anybody sees what it paid for.
@ServiceLoop
public final class LimiterService: Service {
    public nonisolated static var name: ServiceName { .attemptLimiter }

    public nonisolated static let methods: [Method<LimiterService>] = [
        .on(DrawChallenge.self) { service, call in
            Answer(try service.drawChallenge(of: call.owner))
        },
        .on(Enrol.self) { service, call in
            Answer(try service.enrol(call.request, of: call.owner))
        },
        .on(Begin.self) { service, call in
            guard let code = call.attachments.first else { throw BusFault.malformed }
            return try service.begin(call.request, of: call.owner, code: code)
        },
        .on(Confirm.self) { service, call in
            Answer(try service.confirm(call.request, of: call.owner))
        },
        .on(Prove.self) { service, call in
            try service.prove(call.request, of: call.owner, code: call.attachments.first)
        },
        .on(Forget.self) { service, call in
            Answer(try service.forget(call.request, of: call.owner))
        },
        .on(AskStanding.self) { service, call in Answer(try service.standing(of: call.owner)) },
        .on(RepairAttempts.self) { service, call in
            Answer(try service.repair(call.request, of: call.owner))
        },
    ]

    /// The shape of the limiter's store.
    public nonisolated static let schema = Schema(steps: [
        LimiterStore.schemaStep, OutcomeJournal.schemaStep,
    ])

    public nonisolated static var ownerTables: [OwnerTable] { LimiterStore.ownerTables }

    /// What is put before a code, so that an answer serves for nothing else.
    private nonisolated static let evaluationLabel = Array("telegram.passcode.v1\0".utf8)
    /// How long after its charge an attempt can be confirmed.
    private nonisolated static let confirmNanoseconds: UInt64 = 60_000_000_000
    /// How long after its charge an attempt is kept, so that a repeat gets the same answer.
    private nonisolated static let keptNanoseconds: UInt64 = 600_000_000_000

    private let group: CommitGroup
    private let store: LimiterStore
    private let clock: any BootClock
    private let random: any RandomSource
    private let metrics: MetricsRegistry
    private var challenges = ChallengeBook()
    /// The boot whose predecessors' attempts were swept.
    private var sweptBoot: BootID?

    public init(
        group: CommitGroup, clock: any BootClock, random: any RandomSource,
        metrics: MetricsRegistry
    ) {
        self.group = group
        store = LimiterStore(database: group.store)
        self.clock = clock
        self.random = random
        self.metrics = metrics
    }

    // MARK: Enrolment

    /// Answers what is known of the owner, and 16 bytes to sign.
    public func drawChallenge(of owner: Owner) throws -> DrawChallenge.Reply {
        let enrolment = try store.enrolment(of: owner)
        return DrawChallenge.Reply(
            challenge: try challenges.draw(for: owner, at: clock.now, from: random),
            enrolment: enrolment?.id, confirmKey: enrolment?.confirmKey)
    }

    /// Makes the owner's device secret, once, and fixes the confirm key.
    public func enrol(_ request: Enrol, of owner: Owner) throws -> Enrol.Reply {
        let now = clock.now
        try redeem(
            request.challenge, .enrol, request.signature, key: request.confirmKey, of: owner,
            at: now)
        if let known = try store.enrolment(of: owner) {
            guard known.confirmKey == request.confirmKey else { throw LimiterFault.otherKey }
            return Enrol.Reply(enrolment: known.id)
        }
        let enrolment = LimiterStore.Enrolment(id: draw(), confirmKey: request.confirmKey)
        let secret = SharedSecret(random.secret(LimiterStore.deviceSecretBytes))
        try group.write {
            try store.enrol(
                owner, enrolment, deviceSecret: secret, ledger: AttemptLedger(enrolledAt: now))
        }
        return Enrol.Reply(enrolment: enrolment.id)
    }

    /// Destroys all that there is of an enrolment; another one is left alone.
    public func forget(_ request: Forget, of owner: Owner) throws -> Empty {
        guard try store.enrolment(of: owner)?.id == request.enrolment else { return Empty() }
        try group.write { try store.forget(owner, request.enrolment) }
        challenges.void(owner)
        return Empty()
    }

    // MARK: Attempts

    /// Charges one attempt and evaluates the code.
    public func begin(
        _ request: Begin, of owner: Owner, code: SharedSecret
    ) throws -> Answer<Begin> {
        let now = clock.now
        try require(request.enrolment, of: owner)
        let secret = try store.deviceSecret(of: owner)
        let before = try ledger(of: owner, at: now)
        let nonceIsSeen = try store.hasNonce(request.nonce, in: request.enrolment)
        var after = before
        let verdict = after.begin(
            lastSeen: request.lastCharge, nonceIsSeen: nonceIsSeen, at: now)
        guard case .charged(let charge) = verdict else {
            try save(after, over: before, of: owner)
            return Answer(try refusal(of: verdict, after, at: now))
        }
        let attempt = LimiterStore.Attempt(id: draw(), charge: charge, chargedAt: now)
        try group.write {
            try store.save(after, of: owner)
            try store.add(attempt, of: owner, nonce: request.nonce, in: request.enrolment)
            try sweep(at: now)
        }
        return Answer(
            .charged(attempt: attempt.id, charge: charge),
            attachments: [evaluate(code, with: secret)])
    }

    /// Drops the charges up to that of an attempt whose code was right.
    public func confirm(_ request: Confirm, of owner: Owner) throws -> ConfirmReply {
        let now = clock.now
        guard let enrolment = try store.enrolment(of: owner) else {
            throw LimiterFault.unknownOwner
        }
        guard let attempt = try store.attempt(request.attempt, of: owner) else {
            throw LimiterFault.noSuchAttempt
        }
        try verify(
            request.signature, .confirm, attempt.id.bytes, key: enrolment.confirmKey, of: owner)
        guard attempt.chargedAt.bootID == now.bootID else { throw LimiterFault.attemptOver }
        if let answered = attempt.failedBefore { return ConfirmReply(failedBefore: answered) }
        guard attempt.chargedAt.nanoseconds <= now.nanoseconds,
            now.nanoseconds - attempt.chargedAt.nanoseconds <= Self.confirmNanoseconds
        else { throw LimiterFault.attemptOver }
        var ledger = try ledger(of: owner, at: now)
        let failedBefore = ledger.confirm(charge: attempt.charge)
        try group.write {
            try store.save(ledger, of: owner)
            try store.take(attempt.id, failedBefore: failedBefore)
        }
        return ConfirmReply(failedBefore: failedBefore)
    }

    /// Drops all charges for the holder of the access key, and evaluates his new code.
    public func prove(
        _ request: Prove, of owner: Owner, code: SharedSecret?
    ) throws -> Answer<Prove> {
        let now = clock.now
        let enrolment = try require(request.enrolment, of: owner)
        try redeem(
            request.challenge, code == nil ? .proveRemoval : .provePasscode, request.signature,
            key: enrolment.confirmKey, of: owner, at: now)
        let before = try ledger(of: owner, at: now)
        let secret = try store.deviceSecret(of: owner)
        var after = before
        after.clear()
        try save(after, over: before, of: owner)
        return Answer(Empty(), attachments: code.map { [evaluate($0, with: secret)] } ?? [])
    }

    // MARK: Standing

    /// How the owner stands; charges nothing.
    public func standing(of owner: Owner) throws -> Standing {
        guard let enrolment = try store.enrolment(of: owner) else {
            return Standing(enrolment: nil, failed: 0, remainingMilliseconds: 0)
        }
        let now = clock.now
        let ledger = try ledger(of: owner, at: now)
        return Standing(
            enrolment: enrolment.id, failed: UInt64(ledger.record.count),
            remainingMilliseconds: ledger.remainingMilliseconds(at: now))
    }

    /// Puts a ledger that can be relied on in the place of one that cannot.
    ///
    /// Where the number is lost too, charges go on after as many as there ever were, or after the
    /// last one that the authority saw.
    public func repair(_ request: RepairAttempts, of owner: Owner) throws -> RepairAttempts.Reply {
        guard let enrolment = try store.enrolment(of: owner) else {
            throw LimiterFault.unknownOwner
        }
        let now = clock.now
        let stored = try store.ledger(of: owner)
        let isReadable =
            stored.map { (try? AttemptsRecord(decoding: $0.record, at: now)) != nil } ?? false
        let number = stored?.lastCharge.flatMap { $0 < Begin.chargeLimit ? $0 : nil }
        guard !isReadable || number == nil || request.lastCharge == nil else {
            throw LimiterFault.nothingToRepair
        }
        let known = try number ?? store.chargeCount(in: enrolment.id)
        let ledger = AttemptLedger(
            repairing: stored?.record, lastCharge: max(known, request.lastCharge ?? 0), at: now)
        try group.write { try store.replace(ledger, of: owner, renumbers: number == nil) }
        metrics.count("repairs")
        return RepairAttempts.Reply(
            enrolment: enrolment.id, failed: UInt64(ledger.record.count),
            remainingMilliseconds: ledger.remainingMilliseconds(at: now),
            lastCharge: ledger.lastCharge)
    }

    // MARK: What every service answers

    public func rebuild() throws {
        challenges = ChallengeBook()
        sweptBoot = nil
    }

    public func owners() throws -> [Owner] { try store.owners() }

    public func ownerCount() throws -> Int { try store.ownerCount() }

    public func gauges() -> [Gauge] {
        [
            Gauge(
                name: "open_challenges", help: "Challenges that wait for their signature.",
                value: Double(challenges.count))
        ]
    }

    // MARK: Parts

    /// The enrolment that a request names, if it is the owner's.
    @discardableResult
    private func require(
        _ id: EnrolmentID, of owner: Owner
    ) throws -> LimiterStore.Enrolment {
        guard let known = try store.enrolment(of: owner) else { throw LimiterFault.unknownOwner }
        guard known.id == id else { throw LimiterFault.otherEnrolment }
        return known
    }

    /// Takes a challenge, and a signature over it.
    private func redeem(
        _ challenge: [UInt8], _ statement: SignedStatement, _ signature: [UInt8], key: [UInt8],
        of owner: Owner, at now: BootMoment
    ) throws(LimiterFault) {
        guard challenges.take(challenge, of: owner, at: now) else { throw .badChallenge }
        try verify(signature, statement, challenge, key: key, of: owner)
    }

    private func verify(
        _ signature: [UInt8], _ statement: SignedStatement, _ drawn: [UInt8], key: [UInt8],
        of owner: Owner
    ) throws(LimiterFault) {
        let message = statement.bytes(owner: owner, drawn: drawn)
        guard Ed25519.verify(signature, message, publicKey: key) else { throw .badSignature }
    }

    /// The owner's ledger, which has met this boot: what a reboot changes is stored at once.
    private func ledger(of owner: Owner, at now: BootMoment) throws -> AttemptLedger {
        guard let stored = try store.ledger(of: owner), let lastCharge = stored.lastCharge,
            let record = try? AttemptsRecord(decoding: stored.record, at: now)
        else { throw LimiterFault.damaged }
        let before = AttemptLedger(record: record, lastCharge: lastCharge)
        var after = before
        after.meet(now)
        try save(after, over: before, of: owner)
        return after
    }

    private func save(
        _ ledger: AttemptLedger, over before: AttemptLedger, of owner: Owner
    ) throws {
        guard ledger != before else { return }
        try group.write { try store.save(ledger, of: owner) }
    }

    private func refusal(
        of verdict: AttemptLedger.Verdict, _ ledger: AttemptLedger, at now: BootMoment
    ) throws(LimiterFault) -> Begin.Reply {
        switch verdict {
        case .charged(let charge): preconditionFailure("charge \(charge) is no refusal")
        case .coolingDown:
            return .coolingDown(
                remainingMilliseconds: ledger.remainingMilliseconds(at: now),
                failed: UInt64(ledger.record.count))
        case .rolledBack:
            metrics.count("rollbacks")
            throw .rolledBack
        case .nonceSeen: throw .nonceSeen
        case .numbersUsedUp: throw .numbersUsedUp
        }
    }

    private func evaluate(
        _ code: SharedSecret, with deviceSecret: borrowing SecretBytes
    ) -> SharedSecret {
        metrics.count("evaluations")
        return SharedSecret(
            HMAC.sha256(key: deviceSecret, prefix: Self.evaluationLabel, message: code.bytes))
    }

    private func draw<Named>() -> Identifier<Named> {
        guard let id = Identifier<Named>(random.bytes(Identifier<Named>.byteCount)) else {
            preconditionFailure("an id has as many bytes as it has")
        }
        return id
    }

    private func sweep(at now: BootMoment) throws(StorageError) {
        if sweptBoot != now.bootID {
            try store.sweepAttempts(notOf: now.bootID)
            sweptBoot = now.bootID
        }
        guard now.nanoseconds > Self.keptNanoseconds else { return }
        try store.sweepAttempts(before: now.nanoseconds - Self.keptNanoseconds)
    }
}
