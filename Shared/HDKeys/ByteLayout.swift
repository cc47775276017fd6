/// Most significant byte first.
func bigEndian(_ value: UInt32) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
}

/// Copies bytes to a place in a buffer that has room for them.
func put(_ bytes: UnsafeRawBufferPointer, at offset: Int, in target: UnsafeMutableRawBufferPointer)
{
    UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: bytes)
}
