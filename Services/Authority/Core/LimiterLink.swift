internal import AuthorityMessages
internal import LimiterMessages
internal import Loop
internal import Secrets
internal import Serving
internal import Wire

/// Why the limiter gave no answer.
enum LimiterTrouble: Error, Equatable {
    /// It answered with a fault of its contract: nothing was charged and no count was lowered.
    case said(LimiterFault)
    /// Nothing was done: the limiter cannot be reached, or does not let the authority ask.
    case unreachable
    /// Its store refused; nothing was done.
    case stored(StorageFault)
    /// No answer came, or none that means anything here: what was asked may have happened.
    case silent

    init(_ refusal: Refusal) {
        if let fault = LimiterFault(rawValue: refusal.code) {
            self = .said(fault)
        } else if refusal.outcome == .unknown {
            self = .silent
        } else {
            self = StorageFault(rawValue: refusal.code).map(LimiterTrouble.stored) ?? .unreachable
        }
    }

    /// What a caller of the authority is told where what was asked leaves nothing behind.
    var fault: any Fault {
        switch self {
        case .stored(let fault): fault
        case .silent, .unreachable: CredentialFault.limiterUnreachable
        case .said(let fault): CredentialFault(fault)
        }
    }

    /// What a caller of the authority is told where an attempt may be counted.
    var faultAfterCharge: any Fault {
        switch self {
        case .silent: CredentialFault.limiterSilent
        case .said(.nonceSeen), .said(.noSuchAttempt), .said(.attemptOver):
            CredentialFault.overtaken
        default: fault
        }
    }
}

extension CredentialFault {
    /// What a caller of the authority is told of what the limiter said.
    init(_ fault: LimiterFault) {
        switch fault {
        case .unknownOwner, .otherEnrolment, .otherKey, .badSignature: self = .secretMissing
        case .nothingToRepair: self = .nothingToRepair
        case .badChallenge, .nonceSeen, .rolledBack, .noSuchAttempt, .attemptOver: self = .stale
        // Charge numbers come to their end by damage alone.
        case .damaged, .numbersUsedUp: self = .attemptsDamaged
        }
    }
}

/// The way to the limiter, for one owner at a time.
@ServiceLoop
struct LimiterLink {
    /// How often a step is tried that may be repeated.
    private nonisolated static let triesMax = 4

    private let client: ServiceClient
    private let timers: Timers
    /// How long an answer may take.
    private let timeoutMilliseconds: UInt64

    init(client: ServiceClient, timers: Timers, timeoutMilliseconds: UInt64) {
        self.client = client
        self.timers = timers
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    func ask<R: Request>(
        _ request: R, of owner: Owner, attachments: [SharedSecret] = [],
        timeoutMilliseconds: UInt64? = nil
    ) async throws(LimiterTrouble) -> Answer<R> {
        do throws(Refusal) {
            return try await client.call(
                request,
                options: CallOptions(
                    owner: owner,
                    timeoutMilliseconds: timeoutMilliseconds ?? self.timeoutMilliseconds),
                attachments: attachments)
        } catch {
            throw LimiterTrouble(error)
        }
    }

    /// Asks again where no answer came, with growing pauses: for requests that give the same answer
    /// however often they arrive.
    func askUntilAnswered<R: Request>(
        _ request: R, of owner: Owner
    ) async throws(LimiterTrouble) -> R.Reply {
        var pauseMilliseconds: UInt64 = 100
        for _ in 1..<Self.triesMax {
            do throws(LimiterTrouble) {
                return try await ask(request, of: owner).reply
            } catch {
                guard error == .silent || error == .unreachable else { throw error }
            }
            await timers.sleep(milliseconds: pauseMilliseconds)
            pauseMilliseconds *= 3
        }
        return try await ask(request, of: owner).reply
    }

    /// Failed attempts and the wait, asked for beside something else: a short time, once.
    func standing(of owner: Owner) async throws(LimiterTrouble) -> Standing {
        try await ask(
            AskStanding(), of: owner, timeoutMilliseconds: min(1_000, timeoutMilliseconds)
        ).reply
    }

    /// One uncharged evaluation over a new code, for the holder of the access key.
    ///
    /// A challenge that the limiter does not know any more (it was started anew) is drawn again.
    ///
    /// - Returns: 32 bytes.
    func prove(
        _ code: SharedSecret, enrolment: EnrolmentID, accessKey: SharedSecret, of owner: Owner
    ) async throws -> SharedSecret {
        let key = try ConfirmKey(accessKey: accessKey.bytes)
        var isLast = false
        while true {
            let drawn = try await challenge(owner)
            guard drawn.enrolment == enrolment else { throw CredentialFault.secretMissing }
            let request = Prove(
                enrolment: enrolment, challenge: drawn.challenge,
                signature: key.sign(.provePasscode, owner, drawn.challenge))
            do throws(LimiterTrouble) {
                let answer = try await ask(request, of: owner, attachments: [code])
                guard let evaluation = Self.evaluation(answer.attachments) else { throw .silent }
                return evaluation
            } catch {
                guard error == .said(.badChallenge), !isLast else { throw error.fault }
                isLast = true
            }
        }
    }

    /// Drops all charges for the holder of the access key, if the limiter answers soon.
    ///
    /// - Returns: whether they are dropped for certain.
    func dropCharges(
        enrolment: EnrolmentID, accessKey: SharedSecret, of owner: Owner
    ) async -> Bool {
        let timeout = min(1_000, timeoutMilliseconds)
        do {
            let key = try ConfirmKey(accessKey: accessKey.bytes)
            let drawn = try await ask(
                DrawChallenge(), of: owner, timeoutMilliseconds: timeout
            ).reply
            let request = Prove(
                enrolment: enrolment, challenge: drawn.challenge,
                signature: key.sign(.proveRemoval, owner, drawn.challenge))
            _ = try await ask(request, of: owner, timeoutMilliseconds: timeout)
            return true
        } catch {
            return false
        }
    }

    func challenge(_ owner: Owner) async throws -> DrawChallenge.Reply {
        do throws(LimiterTrouble) {
            return try await ask(DrawChallenge(), of: owner).reply
        } catch {
            throw error.fault
        }
    }

    /// The one attachment of a charged `begin` and of a `prove`, 32 bytes.
    static func evaluation(_ attachments: [SharedSecret]) -> SharedSecret? {
        guard attachments.count == 1, attachments[0].bytes.count == 32 else { return nil }
        return attachments[0]
    }
}
