public import Wire

/// Says that nothing more is to come from a source: whatever of it is not settled stays where it is
/// and no longer holds up a launching app.
///
/// Without it a list that will never be readable again would hold up the app for ever. Nothing is
/// removed, and the source can be migrated later all the same, which takes this back. Takes a
/// settings session of passcode origin with the migration in its audience.
public struct SetSourceAside: Request, Equatable {
    public static var method: String { "migration.set_aside" }
    public static var kind: MethodKind { .change }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public var source: SourcePath
    /// SHA-256 of the source, as the plan told it; it must be the same still.
    public var digest: [UInt8]

    public init(source: SourcePath, digest: [UInt8]) {
        self.source = source
        self.digest = digest
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["source", "digest"])
        source = try object.identifier("source")
        digest = try object.hex("digest", count: 32)
    }

    public func write(to writer: inout JSONWriter) {
        writer.identifier("source", source)
        writer.hex("digest", digest)
    }

    public typealias Reply = Empty
}
