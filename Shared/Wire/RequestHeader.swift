/// The first frame of a request.
public struct RequestHeader: Equatable, Sendable {
    /// The version of the protocol that this code speaks.
    public static let version = 1
    /// How long a header may be, in bytes.
    public static let sizeLimit = 8_192
    /// How many keys one request may settle.
    public static let settledLimit = 128
    /// The largest id: what every JSON reader keeps exactly.
    public static let idLimit: UInt64 = 1 << 53
    /// The longest time that a client may ask a service to work for it.
    public static let timeoutMillisecondsLimit: UInt64 = 3_600_000

    /// The client's number for the request, repeated in the reply.
    public var id: UInt64
    public var method: String
    public var owner: Owner
    /// How long the client waits from the sending on.
    public var timeoutMilliseconds: UInt64
    /// Keys whose outcome the client knows and will not ask for again.
    public var settled: [IdempotencyKey]
    /// Present exactly when the method is a change.
    public var idempotency: IdempotencyKey?

    public init(
        id: UInt64, method: String, owner: Owner, timeoutMilliseconds: UInt64,
        settled: [IdempotencyKey] = [], idempotency: IdempotencyKey? = nil
    ) {
        self.id = id
        self.method = method
        self.owner = owner
        self.timeoutMilliseconds = timeoutMilliseconds
        self.settled = settled
        self.idempotency = idempotency
    }

    /// Reads a header.
    ///
    /// `JSONError.invalid("v")` means another version of the protocol.
    public init(decoding bytes: [UInt8]) throws(JSONError) {
        let object = try JSONDocument(bytes, limit: Self.sizeLimit).object()
        guard try object.integer("v") == Self.version else { throw .invalid("v") }
        try object.refuseUnknownKeys([
            "v", "id", "method", "owner", "timeout_ms", "settled", "idempotency",
        ])
        id = try object.uint64("id")
        guard id <= Self.idLimit else { throw .invalid("id") }
        method = try object.string("method")
        guard (1...64).contains(method.utf8.count) else { throw .invalid("method") }
        owner = try object.identifier("owner")
        timeoutMilliseconds = try object.uint64("timeout_ms")
        guard (1...Self.timeoutMillisecondsLimit).contains(timeoutMilliseconds) else {
            throw .invalid("timeout_ms")
        }
        settled = try object.has("settled") ? object.identifiers("settled") : []
        guard settled.count <= Self.settledLimit else { throw .invalid("settled") }
        idempotency = try object.optionalIdentifier("idempotency")
    }

    /// The id of a header that could not be read, so that the refusal finds its way back.
    public static func id(ofUnreadable bytes: [UInt8]) -> UInt64? {
        let document = try? JSONDocument(bytes, limit: sizeLimit)
        guard let id = try? document?.object().uint64("id"), id <= idLimit else { return nil }
        return id
    }

    public func encode() -> [UInt8] {
        var writer = JSONWriter()
        writer.integer("v", Self.version)
        writer.uint64("id", id)
        writer.string("method", method)
        writer.identifier("owner", owner)
        writer.uint64("timeout_ms", timeoutMilliseconds)
        if !settled.isEmpty { writer.identifiers("settled", settled) }
        writer.optionalIdentifier("idempotency", idempotency)
        return writer.finish()
    }
}
