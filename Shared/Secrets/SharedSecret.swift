/// Secret bytes with more than one holder: for a collection, or to cross a suspension.
///
/// They are wiped when the last holder lets go. Printing and reflecting show nothing of them.
public final class SharedSecret: Sendable, CustomStringConvertible, CustomReflectable {
    public let bytes: SecretBytes

    public init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    public var description: String { "‹redacted›" }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
