/// A message that asks for something: it names its method, its reply, and who may send it.
public protocol Request: Message {
    associatedtype Reply: Message
    /// Service and verb, as in `limiter.begin`.
    static var method: String { get }
    static var kind: MethodKind { get }
    static var callers: Callers { get }
    /// Whether a session token comes with it.
    static var tokenUse: TokenUse { get }
    /// Whether it removes key material though it is no journalled change.
    static var erases: Bool { get }
    /// How many attachments come with it.
    static var attachmentCount: ClosedRange<Int> { get }
    /// How many attachments come with its reply.
    static var replyAttachmentCount: ClosedRange<Int> { get }
}

extension Request {
    public static var tokenUse: TokenUse { .none }
    public static var erases: Bool { false }
    public static var attachmentCount: ClosedRange<Int> { 0...0 }
    public static var replyAttachmentCount: ClosedRange<Int> { 0...0 }
}

/// A request that says all by its method: its body is `{}`.
public protocol BodilessRequest: Request {
    init()
}

extension BodilessRequest {
    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys([])
        self.init()
    }

    public func write(to writer: inout JSONWriter) {}
}

/// Whether a session token comes with a request.
public enum TokenUse: Sendable {
    case none
    /// It depends on what stands already, as with the first passcode.
    case optional
    case required
}

/// What asking twice means.
public enum MethodKind: Sendable {
    /// Nothing changes.
    case read
    /// Each asking is a new act, and none is journalled.
    case fresh
    /// The same asking gives the same result by its nature.
    case repeatable
    /// It is journalled under an idempotency key, which must come with it.
    case change
}

/// Who may call a method: services by name, other peers by role.
public struct Callers: Sendable {
    public let services: Set<ServiceName>
    public let roles: Set<Role.Kind>

    public init(services: Set<ServiceName> = [], roles: Set<Role.Kind> = []) {
        self.services = services
        self.roles = roles
    }

    /// Every peer that is admitted at all.
    public static let everyone = Callers(
        services: Set(ServiceName.allCases), roles: Set(Role.Kind.allCases))

    /// Services, and the peers that ask for more than health, metrics and a verification.
    public static let workers = Callers(
        services: Set(ServiceName.allCases), roles: [.app, .engine])

    /// A service is admitted by its name alone.
    public func admits(_ role: Role) -> Bool {
        switch role {
        case .service(let name): services.contains(name)
        case .app, .extension, .engine, .operator: roles.contains(role.kind)
        }
    }
}
