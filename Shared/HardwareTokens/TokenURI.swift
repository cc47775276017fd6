internal import CP11Kit
internal import Glibc

/// Which token is meant: a `pkcs11:` URI (RFC 7512) with attributes of a token and no other.
public final class TokenURI {
    /// How long one may be, in bytes.
    public static let byteLimit = 1_024

    private let handle: OpaquePointer

    /// - Throws: ``HardwareTokenError/invalidURI`` for anything that names an object, a module or a
    ///   PIN: modules are the machine's choice, and a PIN comes by another way.
    public init(_ text: String) throws(HardwareTokenError) {
        guard text.utf8.count <= Self.byteLimit, !text.utf8.contains(0),
            let handle = p11_kit_uri_new()
        else { throw .invalidURI }
        self.handle = handle
        guard p11_kit_uri_parse(text, P11_KIT_URI_FOR_TOKEN, handle) == P11_KIT_URI_OK.rawValue,
            p11_kit_uri_any_unrecognized(handle) == 0,
            p11_kit_uri_get_pin_value(handle) == nil, p11_kit_uri_get_pin_source(handle) == nil,
            p11_kit_uri_get_module_name(handle) == nil, p11_kit_uri_get_module_path(handle) == nil
        else { throw .invalidURI }
    }

    /// The one of a token that is plugged in, with all that it says of itself.
    init(of token: CK_TOKEN_INFO) throws(HardwareTokenError) {
        guard let handle = p11_kit_uri_new(), let info = p11_kit_uri_get_token_info(handle) else {
            throw .invalidURI
        }
        self.handle = handle
        info.pointee = token
    }

    deinit { p11_kit_uri_free(handle) }

    func matches(_ token: CK_TOKEN_INFO) -> Bool {
        withUnsafePointer(to: token) { p11_kit_uri_match_token_info(handle, $0) == 1 }
    }

    /// - Throws: ``HardwareTokenError/invalidURI`` for a token whose own one would be too long.
    func text() throws(HardwareTokenError) -> String {
        var text: UnsafeMutablePointer<CChar>?
        guard
            p11_kit_uri_format(handle, P11_KIT_URI_FOR_TOKEN, &text) == P11_KIT_URI_OK.rawValue,
            let text
        else { throw .invalidURI }
        defer { free(text) }
        let formatted = String(cString: text)
        guard formatted.utf8.count <= Self.byteLimit else { throw .invalidURI }
        return formatted
    }
}
