internal import Glibc

/// Why a certificate could not be read or written.
///
/// Every case names the file, so that a person can mend it; none carries a part of a key.
public enum CertificateError: Error, Equatable, Sendable {
    /// The system refused to open, inspect or read the file; a symbolic link is refused too.
    case unreadable(path: String, code: Int32)
    /// The path is no ordinary file, or the file is larger than any certificate.
    case notACertificate(path: String)
    /// Others may read or change the file; `chmod` to the wanted mode.
    case tooOpen(path: String, mode: UInt32, wanted: UInt32)
    /// The file belongs to another user.
    case foreignOwner(path: String)
    /// The line is not in the certificate format.
    case malformed(path: String, line: Int)
    case noPublicKey(path: String)
    case noSecretKey(path: String)
    /// The public key is not the one of the secret key.
    case keysDiffer(path: String)
    /// A name or value that the format cannot hold; nothing was written.
    case unwritable(path: String)
    /// The system refused to write; what stood there before still stands.
    case notWritten(path: String, code: Int32)
}

extension CertificateError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadable(let path, let code): "\(path): cannot be read: \(Self.reason(code))"
        case .notACertificate(let path): "\(path): is not a certificate file"
        case .tooOpen(let path, let mode, let wanted):
            "\(path): has mode \(Self.octal(mode)), wanted \(Self.octal(wanted))"
        case .foreignOwner(let path): "\(path): belongs to another user"
        case .malformed(let path, let line): "\(path):\(line): is not in the certificate format"
        case .noPublicKey(let path): "\(path): has no public key"
        case .noSecretKey(let path): "\(path): has no secret key"
        case .keysDiffer(let path): "\(path): public and secret key do not belong together"
        case .unwritable(let path): "\(path): the format cannot hold such a name or value"
        case .notWritten(let path, let code):
            "\(path): cannot be written: \(Self.reason(code))"
        }
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

    private static func octal(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }
}
