public import Wire

/// Takes somebody in who is to keep shares.
///
/// Takes a settings session of passcode origin with backup-shares in its audience. The same name
/// with the same key again changes nothing; with another key it is refused.
public struct AddHolder: Request, Equatable {
    public static var method: String { "shares.add_holder" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var name: HolderName
    /// Ed25519, 32 bytes.
    public var publicKey: [UInt8]

    public init(name: HolderName, publicKey: [UInt8]) {
        self.name = name
        self.publicKey = publicKey
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["name", "public_key"])
        name = try object.identifier("name")
        publicKey = try object.hex("public_key", count: HolderDescription.publicKeyBytes)
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("name", name)
        writer.hex("public_key", publicKey)
    }

    public typealias Reply = HolderDescription
}

/// Takes somebody out; the shares that he has stay what they are.
///
/// Takes what ``AddHolder`` takes.
public struct RemoveHolder: Request, Equatable {
    public static var method: String { "shares.remove_holder" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var name: HolderName

    public init(name: HolderName) { self.name = name }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["name"])
        name = try object.identifier("name")
    }

    public func write(to writer: inout JSONWriter) { writer.identifier("name", name) }

    public typealias Reply = Empty
}

/// The owner's holders, by name.
public struct ListHolders: BodilessRequest, Equatable {
    public static var method: String { "shares.holders" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .apps }

    public init() {}

    /// All of them; there are never many.
    public struct Reply: Message, Equatable {
        public var holders: [HolderDescription]

        public init(holders: [HolderDescription]) { self.holders = holders }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["holders"])
            holders = []
            for entry in try object.objects("holders") {
                holders.append(try HolderDescription(from: entry))
            }
        }

        public func write(to writer: inout JSONWriter) {
            writer.objects("holders", holders) { writer, holder in holder.write(to: &writer) }
        }
    }
}
