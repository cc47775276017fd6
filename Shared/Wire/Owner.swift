/// A person or tenant.
///
/// Everything in every store belongs to one.
public struct Owner: TextIdentifier {
    /// 1 to 64 of `A-Z a-z 0-9 . _ -`.
    public let text: String

    public init?(_ text: String) {
        guard NameRule.accepts(text) else { return nil }
        self.text = text
    }
}

/// A group of an owner's wallets that shares no key with other groups.
public struct Namespace: TextIdentifier {
    /// 1 to 64 of `A-Z a-z 0-9 . _ -`; it is an HKDF salt, which is padded beyond 64 bytes.
    public let text: String

    public init?(_ text: String) {
        guard NameRule.accepts(text) else { return nil }
        self.text = text
    }
}

/// Which names are allowed for owners, namespaces and whatever else people name in this way.
public enum NameRule {
    /// 1 to 64 of `A-Z a-z 0-9 . _ -`.
    public static func accepts(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(admits)
    }

    static func admits(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x30...0x39, 0x2E, 0x5F, 0x2D: true
        default: false
        }
    }
}
