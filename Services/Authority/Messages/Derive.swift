public import Wire

/// What a service wants to do for the holder of a session.
public enum Purpose: String, TextIdentifier, CaseIterable {
    /// Work under a resource session.
    case open
    /// One signature: a `sign` proof, or a resource session where the owner's policy allows it.
    case sign
    /// Show a phrase: a `reveal` proof.
    case reveal
    /// Change or remove something of the owner's: a settings session of passcode origin. No key
    /// comes with it.
    case settings

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}

/// Asks, in the holder's name, for keys and leave to do one thing.
///
/// The token is the holder's. The live registry is asked in one step that no revocation can
/// interleave; a proof is spent. Each key is `HKDF-SHA256(access key, salt: namespace, info:
/// domain, 32 bytes)`, an attachment in the order of the domains. A change that needs no key asks
/// with no domain.
public struct Derive: Request, Equatable {
    public static var method: String { "authority.derive" }
    public static var kind: MethodKind { .fresh }
    public static var callers: Callers { .keyUsers }
    public static var tokenUse: TokenUse { .required }
    public static var replyAttachmentCount: ClosedRange<Int> { 0...domainLimit }

    public static let domainLimit = 4

    /// Nil only for `settings`.
    public var namespace: Namespace?
    /// Each must belong to the calling service.
    public var domains: [String]
    public var purpose: Purpose
    /// The wallet that a proof is for.
    public var wallet: WalletID?
    /// The peer that the token is for, which the calling service made sure of: it presented the
    /// token, or a service that the token names acts for it.
    public var holder: PeerKey

    public init(
        namespace: Namespace?, domains: [String], purpose: Purpose, wallet: WalletID?,
        holder: PeerKey
    ) {
        self.namespace = namespace
        self.domains = domains
        self.purpose = purpose
        self.wallet = wallet
        self.holder = holder
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["namespace", "domains", "purpose", "wallet", "holder"])
        namespace = try object.optionalIdentifier("namespace")
        domains = try object.strings("domains")
        guard domains.count <= Self.domainLimit else { throw .invalid("domains") }
        purpose = try object.identifier("purpose")
        wallet = try object.optionalIdentifier("wallet")
        holder = try object.identifier("holder")
        guard namespace != nil || purpose == .settings else { throw .missing("namespace") }
    }

    public func write(to writer: inout JSONWriter) {
        writer.optionalIdentifier("namespace", namespace)
        writer.strings("domains", domains)
        writer.identifier("purpose", purpose)
        writer.optionalIdentifier("wallet", wallet)
        writer.identifier("holder", holder)
    }

    /// The lease that was given.
    public struct Reply: Message, Equatable {
        /// Counted by the asking service from the sending of its request.
        public var leaseMilliseconds: UInt64
        /// Whether the lease serves further operations, as that of a resource session does.
        public var reusable: Bool

        public init(leaseMilliseconds: UInt64, reusable: Bool) {
            self.leaseMilliseconds = leaseMilliseconds
            self.reusable = reusable
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["lease_ms", "reusable"])
            leaseMilliseconds = try object.uint64("lease_ms")
            reusable = try object.bool("reusable")
        }

        public func write(to writer: inout JSONWriter) {
            writer.uint64("lease_ms", leaseMilliseconds)
            writer.bool("reusable", reusable)
        }
    }
}

/// Asks whether a holder's session still lives; for services that missed events.
public struct CheckSession: Request, Equatable {
    public static var method: String { "authority.check_session" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .keyUsers }
    public static var tokenUse: TokenUse { .required }

    /// The peer that the token is for.
    public var holder: PeerKey

    public init(holder: PeerKey) { self.holder = holder }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["holder"])
        holder = try object.identifier("holder")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("holder", holder) }

    public typealias Reply = Empty
}
