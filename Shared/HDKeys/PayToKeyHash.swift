/// Addresses that pay to the hash of a public key (P2PKH).
public enum PayToKeyHash {
    /// The version byte of a network's addresses.
    public enum Network: UInt8, Sendable {
        case bitcoin = 0
        case dash = 76
        case bitcoinTest = 111
        case dashTest = 140
    }

    /// The address of a compressed public key.
    public static func address(ofPublicKey publicKey: [UInt8], on network: Network) -> String {
        Base58Check.text(of: [network.rawValue] + KeyIdentifier.of(publicKey: publicKey))
    }
}
