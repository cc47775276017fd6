/// What people call a wallet.
public enum WalletLabel {
    /// The longest label, in bytes of UTF-8.
    public static let byteLimit = 64

    /// Whether a new wallet may be called so: not too long, and without what moves the text around
    /// it: control characters (C0, C1 and DEL), line and paragraph separators, and characters that
    /// turn the direction of writing (`Bidi_Control` of Unicode).
    public static func isValid(_ text: String) -> Bool {
        text.utf8.count <= byteLimit && !text.unicodeScalars.contains(where: moves)
    }

    private static func moves(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default: break
        }
        switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: return true
        default: return false
        }
    }
}
