public import Wire

/// A try that was counted and failed: when, and by which peer.
///
/// Its passcode was wrong, or its check broke off after it was counted, whatever the passcode. One
/// whose check is under way is none.
public struct FailedTry: Message, Equatable {
    /// How many are kept of an owner, the newest ones.
    public static let keptLimit = 16
    /// How long a peer's name may be, in bytes.
    static let nameLimit = 64

    /// On the wall clock, in milliseconds since 1970: for people, nothing is decided by it.
    public var atMilliseconds: UInt64
    /// The name that the peer's entry had then.
    public var peer: String

    public init(atMilliseconds: UInt64, peer: String) {
        self.atMilliseconds = atMilliseconds
        self.peer = peer
    }

    public init(from object: JSONObject) throws(JSONError) {
        try object.refuseUnknownKeys(["at_ms", "peer"])
        atMilliseconds = try object.uint64("at_ms")
        peer = try object.string("peer")
        guard peer.utf8.count <= Self.nameLimit else { throw .invalid("peer") }
    }

    public func write(to writer: inout JSONWriter) {
        writer.uint64("at_ms", atMilliseconds)
        writer.string("peer", peer)
    }
}

extension JSONObject {
    /// Failed tries, as many as are kept.
    func failedTries(_ key: String) throws(JSONError) -> [FailedTry] {
        let entries = try objects(key)
        guard entries.count <= FailedTry.keptLimit else { throw .invalid(key) }
        var tries: [FailedTry] = []
        for entry in entries { tries.append(try FailedTry(from: entry)) }
        return tries
    }
}

extension JSONWriter {
    mutating func failedTries(_ key: String, _ tries: [FailedTry]) {
        objects(key, tries) { writer, one in one.write(to: &writer) }
    }
}
