internal import COpenSSL
internal import Secrets

/// The hash functions in use, as OpenSSL knows them.
enum Hash {
    case sha256
    case sha512
    case ripemd160

    var byteCount: Int {
        switch self {
        case .sha256: 32
        case .sha512: 64
        case .ripemd160: 20
        }
    }

    var name: String {
        switch self {
        case .sha256: "SHA256"
        case .sha512: "SHA512"
        case .ripemd160: "RIPEMD160"
        }
    }

    /// Writes the digest, which must have exactly this hash's length.
    ///
    /// Hashing fails only where the machine has no memory, and then the process ends.
    func digest(_ message: UnsafeRawBufferPointer, into result: UnsafeMutableRawBufferPointer) {
        precondition(result.count == byteCount)
        let method = EVP_get_digestbyname(name)
        let target = result.octets
        guard EVP_Digest(message.baseAddress, message.count, target, nil, method, nil) == 1 else {
            fatalError("OpenSSL does not hash")
        }
    }

    func digest(_ message: UnsafeRawBufferPointer) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: byteCount)
        result.withUnsafeMutableBytes { digest(message, into: $0) }
        return result
    }

    func digest(of secret: borrowing SecretBytes) -> SecretBytes {
        SecretBytes(count: byteCount) { result in
            secret.withBytes { digest($0, into: result) }
        }
    }
}
