public import Tokens
public import Wire

/// The keys that tokens of this run of the authority are signed with.
public struct AskTokenKeys: BodilessRequest, Equatable {
    public static var method: String { "authority.token_keys" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .keyUsers }

    public init() {}

    /// One key; the list has room for more.
    public struct Reply: Message, Equatable {
        public var run: RunID
        /// Key id and Ed25519 public key (32 bytes).
        public var keys: [Key]

        public init(run: RunID, keys: [Key]) {
            self.run = run
            self.keys = keys
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["run", "keys"])
            run = try object.identifier("run")
            keys = []
            for entry in try object.objects("keys") { keys.append(try Key(from: entry)) }
        }

        public func write(to writer: inout JSONWriter) {
            writer.identifier("run", run)
            writer.objects("keys", keys) { writer, key in key.write(to: &writer) }
        }
    }

    /// A key that verifies tokens.
    public struct Key: Message, Equatable {
        public var id: KeyID
        public var publicKey: [UInt8]

        public init(id: KeyID, publicKey: [UInt8]) {
            self.id = id
            self.publicKey = publicKey
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["id", "public_key"])
            id = try object.identifier("id")
            publicKey = try object.hex("public_key", count: 32)
        }

        public func write(to writer: inout JSONWriter) {
            writer.identifier("id", id)
            writer.hex("public_key", publicKey)
        }
    }
}

/// News of sessions, published to services at least every second.
///
/// A gap in the numbers, two seconds of silence or a new run makes a subscriber ask anew before it
/// trusts any token.
public struct SessionEvent: Message, Equatable {
    /// What happened.
    public enum Kind: String, TextIdentifier {
        case heartbeat
        /// One session ended.
        case revoked
        /// An owner's sessions that were opened at `issuedUpTo` or before ended.
        case ownerRevoked = "owner_revoked"

        public init?(_ text: String) { self.init(rawValue: text) }

        public var text: String { rawValue }
    }

    public var run: RunID
    public var number: UInt64
    public var kind: Kind
    public var owner: Owner?
    public var session: SessionID?
    /// Nanoseconds on the boot clock, for ``Kind/ownerRevoked``.
    public var issuedUpTo: UInt64?

    public init(
        run: RunID, number: UInt64, kind: Kind, owner: Owner? = nil, session: SessionID? = nil,
        issuedUpTo: UInt64? = nil
    ) {
        self.run = run
        self.number = number
        self.kind = kind
        self.owner = owner
        self.session = session
        self.issuedUpTo = issuedUpTo
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys([
            "run", "number", "kind", "owner", "session", "issued_up_to_ns",
        ])
        run = try object.identifier("run")
        number = try object.uint64("number")
        kind = try object.identifier("kind")
        owner = try object.optionalIdentifier("owner")
        session = try object.optionalIdentifier("session")
        issuedUpTo = try object.optionalUInt64("issued_up_to_ns")
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("run", run)
        writer.uint64("number", number)
        writer.identifier("kind", kind)
        writer.optionalIdentifier("owner", owner)
        writer.optionalIdentifier("session", session)
        writer.optionalUInt64("issued_up_to_ns", issuedUpTo)
    }
}
