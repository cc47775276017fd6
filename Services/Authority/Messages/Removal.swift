public import Wire

/// One reset or removal of an owner, from its beginning to its end.
public typealias RemovalID = Identifier<BeginRemoval>

/// What becomes of an owner whose wallets are destroyed.
public enum RemovalKind: String, TextIdentifier, CaseIterable {
    /// A new credential without a passcode takes the place of the old one; holders of shares stay.
    case reset
    /// Nothing is left, holders of shares included.
    case remove

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }

    /// The services that wipe what they have of the owner before the credential goes.
    ///
    /// The ledger of migrations goes with the wallets: it would call each of them taken in.
    public var services: [ServiceName] {
        switch self {
        case .reset: [.walletVault, .migration]
        case .remove: [.walletVault, .backupShares, .migration]
        }
    }
}

/// Begins to reset or remove an owner: every session ends, and nothing else of the owner runs until
/// it is finished.
///
/// Takes a settings session of passcode origin, and a peer that may destroy. While one is under way
/// the same request, without a session, gets the same answer, so that whatever broke off can be
/// retried as a whole. Its steps, in this order: sessions end here; each of
/// ``RemovalKind/services`` is told by ``WipeOwner``; ``FinishRemoval`` has the limiter forget the
/// owner and replaces the credential.
public struct BeginRemoval: Request, Equatable {
    public static var method: String { "authority.begin_removal" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .optional }

    public var removalKind: RemovalKind

    public init(removalKind: RemovalKind) { self.removalKind = removalKind }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["kind"])
        removalKind = try object.identifier("kind")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("kind", removalKind) }

    /// What to do next.
    public struct Reply: Message, Equatable {
        public var removal: RemovalID
        /// The services that have not wiped yet.
        public var outstanding: [ServiceName]

        public init(removal: RemovalID, outstanding: [ServiceName]) {
            self.removal = removal
            self.outstanding = outstanding
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["removal", "outstanding"])
            removal = try object.identifier("removal")
            outstanding = try object.serviceNames("outstanding")
        }

        public func write(to writer: inout JSONWriter) {
            writer.identifier("removal", removal)
            writer.identifiers("outstanding", outstanding)
        }
    }
}

/// Begins to reset an owner of whom nobody knows anything, as after a fresh installation: without a
/// passcode, for a peer that may destroy.
///
/// The authority looks into its own store and asks the limiter and the vault; each must answer that
/// it has nothing of the owner, and one that gives no answer is no sign. The vault is not wiped: it
/// said that it is empty. One that is under way gets the same answer, so that whatever broke off
/// can be retried as a whole; the steps that follow are those of ``BeginRemoval``.
public struct BeginFreshReset: BodilessRequest, Equatable {
    public static var method: String { "authority.begin_fresh_reset" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .apps }

    public init() {}

    /// What the three answered.
    public enum Reply: Message, Equatable {
        /// Nobody knows the owner, and these have not wiped yet.
        case begun(removal: RemovalID, outstanding: [ServiceName])
        /// These know something of the owner, at least one, and nothing was changed.
        case known(to: [ServiceName])

        public init(from object: JSONObject) throws(JSONError) {
            switch try object.string("result") {
            case "begun":
                try object.refuseUnknownKeys(["result", "removal", "outstanding"])
                self = .begun(
                    removal: try object.identifier("removal"),
                    outstanding: try object.serviceNames("outstanding"))
            case "known":
                try object.refuseUnknownKeys(["result", "known_to"])
                let services = try object.serviceNames("known_to")
                guard !services.isEmpty else { throw .invalid("known_to") }
                self = .known(to: services)
            default: throw .invalid("result")
            }
        }

        public func write(to writer: inout JSONWriter) {
            switch self {
            case .begun(let removal, let outstanding):
                writer.string("result", "begun")
                writer.identifier("removal", removal)
                writer.identifiers("outstanding", outstanding)
            case .known(let services):
                writer.string("result", "known")
                writer.identifiers("known_to", services)
            }
        }
    }
}

extension JSONObject {
    /// Services, of which there are not more than there are.
    fileprivate func serviceNames(_ name: String) throws(JSONError) -> [ServiceName] {
        let services: [ServiceName] = try identifiers(name)
        guard services.count <= ServiceName.allCases.count else { throw .invalid(name) }
        return services
    }
}

/// Has the limiter forget the owner, and replaces or removes the credential.
///
/// Refused while a service has not wiped. One that is over already is done.
public struct FinishRemoval: RemovalRequest, Equatable {
    public static var method: String { "authority.finish_removal" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .apps }
    public static var erases: Bool { true }

    public var removal: RemovalID

    public init(removal: RemovalID) { self.removal = removal }

    public typealias Reply = Empty
}

/// Asks whether the calling service is to wipe what it has of the owner.
public struct CheckRemoval: RemovalRequest, Equatable {
    public static var method: String { "authority.check_removal" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .keyUsers }

    public var removal: RemovalID

    public init(removal: RemovalID) { self.removal = removal }

    public typealias Reply = Empty
}

/// Says that the calling service has nothing of the owner any more, and no remains on its disk.
public struct ReportWiped: RemovalRequest, Equatable {
    public static var method: String { "authority.report_wiped" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .keyUsers }

    public var removal: RemovalID

    public init(removal: RemovalID) { self.removal = removal }

    public typealias Reply = Empty
}

/// Has a service destroy all that it has of an owner who is being reset or removed.
///
/// The service asks the authority whether that is so. Takes a peer that may destroy.
public struct WipeOwner<Tag: ServiceTag>: RemovalRequest, Equatable {
    public static var method: String { Tag.service.prefix + ".wipe" }
    public static var kind: MethodKind { .repeatable }
    public static var callers: Callers { .apps }
    public static var erases: Bool { true }

    public var removal: RemovalID

    public init(removal: RemovalID) { self.removal = removal }

    public typealias Reply = Empty
}

/// A request about one removal, which it names and says nothing more.
public protocol RemovalRequest: Request {
    var removal: RemovalID { get }
    init(removal: RemovalID)
}

extension RemovalRequest {
    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["removal"])
        self.init(removal: try object.identifier("removal"))
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("removal", removal) }
}
