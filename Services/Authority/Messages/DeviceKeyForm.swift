public import Wire

/// How the copy of an access key lies with a hardware token.
public enum DeviceKeyForm: String, TextIdentifier, CaseIterable {
    /// A private data object on the token.
    case data
    /// In the authority's store, under a key pair of the token that does ECDH.
    case ecdh
    /// In the authority's store, under a key pair of the token that decrypts RSA-OAEP.
    case rsa

    public init?(_ text: String) { self.init(rawValue: text) }

    public var text: String { rawValue }
}
