/// Where keys, nonces and identifiers come from: the kernel, or in tests a known sequence.
public protocol RandomSource: Sendable {
    /// Fills the whole buffer; there is no failure that a caller could go on from.
    func fill(_ buffer: UnsafeMutableRawBufferPointer)
}

extension RandomSource {
    /// Random bytes that need not stay secret: nonces, salts, challenges.
    public func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { fill($0) }
        return bytes
    }

    /// Random bytes that never leave secret memory: keys and seeds.
    public func secret(_ count: Int) -> SecretBytes {
        SecretBytes(count: count) { fill($0) }
    }

    /// A version 4 UUID (RFC 4122 §4.4) in upper case, 36 characters.
    public func uuid() -> String {
        var octets = bytes(16)
        octets[6] = octets[6] & 0x0f | 0x40
        octets[8] = octets[8] & 0x3f | 0x80
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for (index, octet) in octets.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(octet >> 4)])
            text.append(digits[Int(octet & 0x0f)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
