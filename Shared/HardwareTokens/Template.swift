internal import CP11Kit

/// One attribute of an object of a token.
enum Attribute {
    case flag(CK_ATTRIBUTE_TYPE, Bool)
    case number(CK_ATTRIBUTE_TYPE, CK_ULONG)
    case bytes(CK_ATTRIBUTE_TYPE, [UInt8])
    /// A secret, which stays where it is for the length of the call.
    case lent(CK_ATTRIBUTE_TYPE, UnsafeRawBufferPointer)
}

/// Attributes as a module takes them, alive for the length of the call.
func withTemplate<R>(
    _ attributes: [Attribute],
    _ body: (UnsafeMutablePointer<CK_ATTRIBUTE>, CK_ULONG) throws(HardwareTokenError) -> R
) throws(HardwareTokenError) -> R {
    let template = UnsafeMutablePointer<CK_ATTRIBUTE>.allocate(capacity: max(1, attributes.count))
    defer { template.deallocate() }
    var copies: [UnsafeMutableRawBufferPointer] = []
    defer { for copy in copies { copy.deallocate() } }
    for (index, attribute) in attributes.enumerated() {
        let type: CK_ATTRIBUTE_TYPE
        let value: UnsafeRawBufferPointer
        switch attribute {
        case .lent(let kind, let bytes): (type, value) = (kind, bytes)
        case .flag(let kind, let isOn): (type, value) = (kind, keep([isOn ? 1 : 0], in: &copies))
        case .bytes(let kind, let bytes): (type, value) = (kind, keep(bytes, in: &copies))
        case .number(let kind, let number):
            let bytes = withUnsafeBytes(of: number) { Array($0) }
            (type, value) = (kind, keep(bytes, in: &copies))
        }
        template[index] = CK_ATTRIBUTE(
            type: type, pValue: UnsafeMutableRawPointer(mutating: value.baseAddress),
            ulValueLen: CK_ULONG(value.count))
    }
    return try body(template, CK_ULONG(attributes.count))
}

/// A copy that is aligned for whatever it is.
private func keep(
    _ bytes: [UInt8], in copies: inout [UnsafeMutableRawBufferPointer]
) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(
        byteCount: max(1, bytes.count), alignment: MemoryLayout<CK_ULONG>.alignment)
    copy.copyBytes(from: bytes)
    copies.append(copy)
    return UnsafeRawBufferPointer(start: copy.baseAddress, count: bytes.count)
}
