internal import Glibc

/// Overwrites the bytes with zeros, by a call that the optimiser keeps even where nothing reads
/// them again.
public func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    explicit_bzero(start, bytes.count)
}
