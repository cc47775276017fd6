internal import COpenSSL

/// SHA-256 over a message that comes in pieces.
///
/// OpenSSL wipes its state when it ends. A failure is possible only where the machine has no
/// memory, and then the process ends.
public struct SHA256Stream: ~Copyable {
    private let pointer: OpaquePointer

    public init() {
        guard let pointer = EVP_MD_CTX_new(),
            EVP_DigestInit_ex(pointer, EVP_get_digestbyname(Hash.sha256.name), nil) == 1
        else { fatalError("OpenSSL does not hash") }
        self.pointer = pointer
    }

    deinit { EVP_MD_CTX_free(pointer) }

    public mutating func update(_ piece: UnsafeRawBufferPointer) {
        guard EVP_DigestUpdate(pointer, piece.baseAddress, piece.count) == 1 else {
            fatalError("OpenSSL does not hash")
        }
    }

    /// The digest of all pieces, as if they were joined.
    public consuming func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: SHA256.byteCount)
        var count: UInt32 = 0
        guard EVP_DigestFinal_ex(pointer, &digest, &count) == 1, Int(count) == digest.count else {
            fatalError("OpenSSL does not hash")
        }
        return digest
    }
}
