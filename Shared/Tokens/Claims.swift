public import Clocks
public import Wire

/// What a session was opened with.
public enum Origin: String, TextIdentifier {
    case passcode
    case device
    case unprotected

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}

/// How a session ends.
public enum Lifetime: String, TextIdentifier {
    /// At its deadline, and on lock.
    case standard
    /// When its owner finishes it or stops renewing it; for resource scopes only.
    case ownerManaged = "owner_managed"

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}

/// What a token says: a view of one entry of the authority's registry.
///
/// Times are of the machine's boot clock, under names of their own; PASETO's `exp`, `iat` and `nbf`
/// are never used.
public struct Claims: Equatable, Sendable {
    /// How long a credential's id may be, in bytes of UTF-8.
    public static let credentialLimit = 64

    public var owner: Owner
    public var session: SessionID
    public var run: RunID
    /// The credential record that the session was opened under.
    public var credential: String
    public var revision: UInt64
    public var scope: Scope
    public var origin: Origin
    public var lifetime: Lifetime
    /// When the session was opened, in nanoseconds since the boot.
    public var issued: UInt64
    /// The first nanosecond since the boot at which the session is over; nil only for
    /// owner-managed sessions.
    public var deadline: UInt64?
    public var boot: BootID
    /// The services that may take the token.
    public var audience: Set<ServiceName>
    /// The peer that may present it.
    public var holder: PeerKey

    public init(
        owner: Owner, session: SessionID, run: RunID, credential: String, revision: UInt64,
        scope: Scope, origin: Origin, lifetime: Lifetime, issued: UInt64, deadline: UInt64?,
        boot: BootID, audience: Set<ServiceName>, holder: PeerKey
    ) {
        self.owner = owner
        self.session = session
        self.run = run
        self.credential = credential
        self.revision = revision
        self.scope = scope
        self.origin = origin
        self.lifetime = lifetime
        self.issued = issued
        self.deadline = deadline
        self.boot = boot
        self.audience = audience
        self.holder = holder
    }
}

extension Claims: Message {
    private static let keys: [String] =
        Scope.keys + [
            "owner", "session", "run", "credential", "revision", "origin", "lifetime", "issued_ns",
            "deadline_ns", "boot", "audience", "cnf",
        ]

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(Self.keys)
        owner = try object.identifier("owner")
        session = try object.identifier("session")
        run = try object.identifier("run")
        credential = try object.string("credential")
        revision = try object.uint64("revision")
        scope = try Scope(from: object)
        origin = try object.identifier("origin")
        lifetime = try object.identifier("lifetime")
        issued = try object.uint64("issued_ns")
        deadline = try object.optionalUInt64("deadline_ns")
        boot = BootID(try object.string("boot"))
        let services = try object.identifiers("audience", as: ServiceName.self)
        audience = Set(services)
        guard audience.count == services.count else { throw .invalid("audience") }
        let confirmation = try object.object("cnf")
        try confirmation.refuseUnknownKeys(["curve"])
        holder = try confirmation.identifier("curve")
        try validate()
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("owner", owner)
        writer.identifier("session", session)
        writer.identifier("run", run)
        writer.string("credential", credential)
        writer.uint64("revision", revision)
        scope.write(to: &writer)
        writer.identifier("origin", origin)
        writer.identifier("lifetime", lifetime)
        writer.uint64("issued_ns", issued)
        writer.optionalUInt64("deadline_ns", deadline)
        writer.string("boot", boot.text)
        writer.identifiers("audience", ServiceName.allCases.filter { audience.contains($0) })
        writer.object("cnf") { $0.identifier("curve", holder) }
    }

    /// The rules between claims, for what is signed as for what is read.
    func validate() throws(JSONError) {
        guard (1...Self.credentialLimit).contains(credential.utf8.count) else {
            throw .invalid("credential")
        }
        guard (1...64).contains(boot.text.utf8.count) else { throw .invalid("boot") }
        guard !audience.isEmpty else { throw .invalid("audience") }
        switch (lifetime, scope) {
        case (.standard, _): guard deadline != nil else { throw .missing("deadline_ns") }
        case (.ownerManaged, .resource): break
        case (.ownerManaged, _): throw .invalid("lifetime")
        }
    }
}
