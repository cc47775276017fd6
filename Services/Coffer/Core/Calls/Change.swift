internal import Clocks
internal import Secrets
internal import Wire

/// What is known of a change after all was asked.
enum Changed<R: Request> {
    case answered(R.Reply)
    /// It was made, and the answer cannot be had any more.
    case done
}

extension ServiceCaller {
    /// How long the outcome is asked for where no answer came, in milliseconds.
    private static var outcomeMilliseconds: UInt64 { 3_000 }
    private static var outcomePauseMilliseconds: UInt64 { 100 }

    /// A key for one thing that a person entered.
    func newKey() -> IdempotencyKey {
        guard let key = IdempotencyKey(parts.random.bytes(IdempotencyKey.byteCount)) else {
            preconditionFailure("a key has as many bytes as it has")
        }
        return key
    }

    /// Makes a change, and finds out what became of it where the answer does not say.
    ///
    /// - Parameter key: of ``newKey()``.
    func change<R: Request>(
        _ request: R, key: IdempotencyKey, token: [UInt8], attachments: [SharedSecret] = []
    ) throws(CommandFailure) -> Changed<R> {
        let service = Self.service(of: R.self)
        // It stays noted until the report has been shown: an interruption before that must not say
        // that nothing happened.
        parts.noteOpen(.change(service, key))
        do throws(CommandFailure) {
            let answer = try call(
                request, token: token, attachments: attachments, idempotency: key)
            settle(key, of: service)
            return .answered(answer.reply)
        } catch {
            guard error.refusal.outcome == .unknown else {
                parts.noteOpen(nil)
                settle(key, of: service)
                throw error
            }
        }
        switch try finalOutcome(of: key, service) {
        case .done:
            // The same key again gets the recorded answer, where the session still stands.
            let answer = try? call(
                request, token: token, attachments: attachments, idempotency: key)
            settle(key, of: service)
            return answer.map { .answered($0.reply) } ?? .done
        case .rejected(let code):
            parts.noteOpen(nil)
            settle(key, of: service)
            throw Self.rejected(code)
        }
    }

    private enum Final {
        case done
        case rejected(code: String)
    }

    /// Asks until the service knows, for some time at the most.
    private func finalOutcome(
        of key: IdempotencyKey, _ service: ServiceName
    ) throws(CommandFailure) -> Final {
        let end = parts.clock.now.nanoseconds + Self.outcomeMilliseconds * 1_000_000
        while true {
            let now = parts.clock.now.nanoseconds
            guard now < end else { break }
            let left = max(1, (end - now) / 1_000_000)
            if let reply = try? outcome(of: key, service, within: left) {
                switch reply.status {
                case .done: return .done
                case .rejected: return .rejected(code: reply.code ?? "")
                case .inFlight: break
                }
            }
            parts.waitMilliseconds(Self.outcomePauseMilliseconds)
        }
        throw CommandFailure(
            .outcomeUnknown,
            "\(service.text) has not said whether the change was made. Ask it with "
                + "`coffer outcome \(service.prefix) \(key.text)`.")
    }

    /// What a service says of a key.
    func outcome(
        of key: IdempotencyKey, _ service: ServiceName, within milliseconds: UInt64? = nil
    ) throws(CommandFailure) -> OutcomeReply {
        guard let tag = KnownServices.tags.first(where: { $0.service == service }) else {
            throw .usage("\(service.text) is not installed.")
        }
        return try outcome(of: key, tag, within: milliseconds)
    }

    private func outcome<Tag: ServiceTag>(
        of key: IdempotencyKey, _ tag: Tag.Type, within milliseconds: UInt64?
    ) throws(CommandFailure) -> OutcomeReply {
        try call(AskOutcome<Tag>(key: key), within: milliseconds).reply
    }

    /// The failure that a rejected change ends with.
    static func rejected(_ code: String) -> CommandFailure {
        let meaning = KnownServices.meaning(of: code)
        let isWellFormed = meaning != nil
        let refusal = Refusal(
            code: isWellFormed ? code : BusFault.withdrawn.rawValue,
            message: meaning ?? "The change was not made.", outcome: .rejected)
        return CommandFailure(refusal, kind: .change)
    }
}
