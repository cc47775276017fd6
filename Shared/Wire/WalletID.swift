/// A wallet's name within its namespace: an upper-case UUID.
///
/// It is not written to logs.
public struct WalletID: TextIdentifier {
    /// 36 characters: 8-4-4-4-12 digits `0-9 A-F`.
    public let text: String

    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return nil }
        for (position, byte) in bytes.enumerated() {
            switch position {
            case 8, 13, 18, 23: guard byte == 0x2D else { return nil }
            default:
                guard (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) else {
                    return nil
                }
            }
        }
        self.text = text
    }
}
