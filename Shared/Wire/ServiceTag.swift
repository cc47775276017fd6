/// Names a service in the type of a request that every service answers.
public protocol ServiceTag: Sendable {
    static var service: ServiceName { get }
}

/// Whether the service is well, what it is, and what it counted.
///
/// Answered without a token.
public struct Health<Tag: ServiceTag>: BodilessRequest {
    public static var method: String { Tag.service.prefix + ".health" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .everyone }

    public init() {}

    public typealias Reply = HealthReply
}

/// How a service is.
public struct HealthReply: Message, Equatable {
    /// The service's name.
    public var service: String
    /// The program's version.
    public var version: String
    /// Whether it does its work; what is wrong stands in `problem`.
    public var healthy: Bool
    public var problem: String?
    /// Milliseconds since the program started.
    public var upMilliseconds: UInt64
    /// The owners it knows.
    public var owners: Int
    /// The version of the stored state.
    public var schema: Int

    public init(
        service: String, version: String, healthy: Bool, problem: String?,
        upMilliseconds: UInt64, owners: Int, schema: Int
    ) {
        self.service = service
        self.version = version
        self.healthy = healthy
        self.problem = problem
        self.upMilliseconds = upMilliseconds
        self.owners = owners
        self.schema = schema
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys([
            "service", "version", "healthy", "problem", "up_ms", "owners", "schema",
        ])
        service = try object.string("service")
        version = try object.string("version")
        healthy = try object.bool("healthy")
        problem = try object.optionalString("problem")
        upMilliseconds = try object.uint64("up_ms")
        owners = try object.integer("owners")
        schema = try object.integer("schema")
    }

    public func write(to writer: inout JSONWriter) {
        writer.string("service", service)
        writer.string("version", version)
        writer.bool("healthy", healthy)
        writer.optionalString("problem", problem)
        writer.uint64("up_ms", upMilliseconds)
        writer.integer("owners", owners)
        writer.integer("schema", schema)
    }
}

/// A service's counters, as Prometheus text.
public struct Metrics<Tag: ServiceTag>: BodilessRequest {
    public static var method: String { Tag.service.prefix + ".metrics" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .everyone }

    public init() {}

    public typealias Reply = MetricsReply
}

/// Counters in the Prometheus text format, version 0.0.4.
public struct MetricsReply: Message, Equatable {
    public var text: String

    public init(text: String) { self.text = text }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["text"])
        text = try object.string("text")
    }

    public func write(to writer: inout JSONWriter) { writer.string("text", text) }
}

/// The owners that the service knows, of those for whom the peer may speak.
public struct ListOwners<Tag: ServiceTag>: BodilessRequest {
    public static var method: String { Tag.service.prefix + ".owners" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .workers }

    public init() {}

    public typealias Reply = OwnersReply
}

/// Names of owners, sorted.
public struct OwnersReply: Message, Equatable {
    public var owners: [String]

    public init(owners: [String]) { self.owners = owners }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["owners"])
        owners = try object.strings("owners")
    }

    public func write(to writer: inout JSONWriter) { writer.strings("owners", owners) }
}

/// What became of a change, by its idempotency key.
///
/// Needs the peer that sent the change and its owner, and no token. A key that was never seen is
/// first written off, so that a copy still under way does nothing when it arrives.
public struct AskOutcome<Tag: ServiceTag>: Request {
    public static var method: String { Tag.service.prefix + ".outcome" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .workers }

    public var key: IdempotencyKey

    public init(key: IdempotencyKey) { self.key = key }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["key"])
        key = try object.identifier("key")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("key", key) }

    public typealias Reply = OutcomeReply
}

/// What became of a change.
public struct OutcomeReply: Message, Equatable {
    public var status: OutcomeStatus
    /// For a rejected change, the code of the error that it got.
    public var code: String?

    public init(status: OutcomeStatus, code: String?) {
        self.status = status
        self.code = code
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["outcome", "code"])
        status = try object.identifier("outcome")
        code = try object.optionalString("code")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("outcome", status)
        writer.optionalString("code", code)
    }
}
