public import Secrets

/// What a caller says beside the request itself.
public struct CallOptions: Sendable {
    public var owner: Owner
    /// The session token; empty where the method needs none.
    public var token: [UInt8]
    public var timeoutMilliseconds: UInt64
    /// New for every change a person enters; a repeat of the same change carries the same key.
    public var idempotency: IdempotencyKey?
    /// Keys whose outcome the caller knows.
    public var settled: [IdempotencyKey]

    public init(
        owner: Owner, token: [UInt8] = [], timeoutMilliseconds: UInt64 = 5_000,
        idempotency: IdempotencyKey? = nil, settled: [IdempotencyKey] = []
    ) {
        self.owner = owner
        self.token = token
        self.timeoutMilliseconds = timeoutMilliseconds
        self.idempotency = idempotency
        self.settled = settled
    }
}

/// A reply and the secrets that came with it.
public struct Answer<R: Request>: Sendable {
    public var reply: R.Reply
    public var attachments: [SharedSecret]

    public init(_ reply: R.Reply, attachments: [SharedSecret] = []) {
        self.reply = reply
        self.attachments = attachments
    }
}

extension RequestFrames {
    /// Writes a request as frames.
    public init<R: Request>(
        _ request: R, id: UInt64, options: CallOptions, attachments: [SharedSecret]
    ) {
        let header = RequestHeader(
            id: id, method: R.method, owner: options.owner,
            timeoutMilliseconds: options.timeoutMilliseconds, settled: options.settled,
            idempotency: options.idempotency)
        self.init(
            header: header.encode(), token: options.token, body: request.encoded(),
            attachments: attachments)
    }
}

extension ReplyFrames {
    /// Writes an answer as frames.
    public init(id: UInt64, body: [UInt8], attachments: [SharedSecret], repeated: Bool = false) {
        let header = ReplyHeader(id: id, status: .ok, repeated: repeated)
        self.init(header: header.encode(), body: body, attachments: attachments)
    }

    /// Writes a refusal as frames.
    public init(id: UInt64, refusal: Refusal, repeated: Bool = false) {
        let header = ReplyHeader(id: id, status: .error, repeated: repeated)
        self.init(header: header.encode(), body: refusal.encoded(), attachments: [])
    }

    /// Reads the answer to a request.
    ///
    /// A reply that is not of the protocol is ``BusFault/badReply``: the request may have been
    /// carried out.
    public func answer<R: Request>(to type: R.Type) throws(Refusal) -> Answer<R> {
        do {
            let status = try ReplyHeader(decoding: header).status
            guard status == .ok else { throw try Refusal(decoding: body) }
            guard R.replyAttachmentCount.contains(attachments.count) else {
                throw JSONError.invalid("attachments")
            }
            return Answer(try R.Reply(decoding: body), attachments: attachments)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw BusFault.badReply.refusal
        }
    }
}
