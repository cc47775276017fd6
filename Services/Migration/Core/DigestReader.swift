internal import Crypto
internal import PropertyLists
internal import Secrets

/// Reads a source through for its digest, slice by slice.
final class DigestReader {
    /// So much is read at a time, in bytes.
    private static let pieceBytes = 65_536
    private static let piecesPerSlice = 64

    private let source: any ByteSource
    private var hash: SHA256Stream? = SHA256Stream()
    private var offset = 0

    init(_ source: any ByteSource) { self.source = source }

    /// Reads one slice; SHA-256 of the source where it was the last.
    func advance() throws(ByteSourceError) -> [UInt8]? {
        var piece = SecretBytes(count: Self.pieceBytes)
        for _ in 0..<Self.piecesPerSlice where offset < source.count {
            let count = min(Self.pieceBytes, source.count - offset)
            try piece.withMutableBytes { bytes throws(ByteSourceError) in
                let part = UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
                try source.read(at: offset, into: part)
                hash?.update(UnsafeRawBufferPointer(part))
            }
            offset += count
        }
        guard offset == source.count else { return nil }
        return hash.take()?.finish()
    }
}
