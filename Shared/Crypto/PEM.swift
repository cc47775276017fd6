internal import COpenSSL
internal import Secrets

/// The text form of DER documents (RFC 7468): base64 between two lines that name what is in it.
enum PEM {
    /// Longer texts are not read.
    static let byteCountMax = 16_384
    /// Letters of base64 in a line.
    private static let lineCount = 64

    /// A document and what its first line calls it.
    struct Document: ~Copyable {
        let label: String
        let der: SecretBytes
    }

    static func text(_ der: [UInt8], label: String) -> [UInt8] {
        var base64 = [UInt8](repeating: 0, count: (der.count + 2) / 3 * 4 + 1)
        EVP_EncodeBlock(&base64, der, Int32(der.count))
        base64.removeLast()
        var text = Array("-----BEGIN \(label)-----\n".utf8)
        for start in stride(from: 0, to: base64.count, by: lineCount) {
            text += base64[start..<min(start + lineCount, base64.count)] + [lineFeed]
        }
        return text + Array("-----END \(label)-----\n".utf8)
    }

    /// The first document of a text; nil where there is none, or none in this form.
    ///
    /// What stands before it is passed over; within it there is base64 alone, in lines that end
    /// with a line feed or with carriage return and line feed.
    static func read(_ text: borrowing SecretBytes) -> Document? {
        guard text.count <= byteCountMax else { return nil }
        return text.withBytes { text in
            var lines = text.split(separator: lineFeed, omittingEmptySubsequences: false)
                .map(trimmed)[...]
            var label: String?
            while label == nil, let line = lines.popFirst() { label = name(in: line, "BEGIN") }
            guard let label else { return nil }
            var base64 = SecretBytes(count: text.count)
            var count = 0
            while let line = lines.popFirst() {
                if let end = name(in: line, "END") {
                    guard end == label, let der = decoded(base64.slice(0..<count)) else { break }
                    return Document(label: label, der: der)
                }
                base64.withMutableBytes { target in
                    for (offset, letter) in line.enumerated() { target[count + offset] = letter }
                }
                count += line.count
            }
            return nil
        }
    }

    /// The name in a line such as `-----BEGIN NAME-----`.
    private static func name(in line: Slice<UnsafeRawBufferPointer>, _ keyword: String) -> String? {
        let head = "-----\(keyword) "
        let tail = "-----"
        guard line.count > head.utf8.count + tail.utf8.count, line.starts(with: head.utf8),
            line.suffix(tail.utf8.count).elementsEqual(tail.utf8)
        else { return nil }
        let name = line.dropFirst(head.utf8.count).dropLast(tail.utf8.count)
        return String(decoding: name, as: UTF8.self)
    }

    /// The bytes of base64 in its one padded form.
    private static func decoded(_ base64: borrowing SecretBytes) -> SecretBytes? {
        let count = base64.count
        guard count > 0, count % 4 == 0 else { return nil }
        let padding = base64.withBytes { $0.suffix(2).count { $0 == UInt8(ascii: "=") } }
        var isRead = false
        let block = SecretBytes(count: count / 4 * 3) { target in
            base64.withBytes { source in
                isRead = EVP_DecodeBlock(target.octets, source.octets, Int32(count)) == target.count
            }
        }
        guard isRead else { return nil }
        let bytes = block.slice(0..<(block.count - padding))
        let again = SecretBytes(count: count + 1) { target in
            bytes.withBytes { source in
                _ = EVP_EncodeBlock(target.octets, source.octets, Int32(source.count))
            }
        }
        return again.slice(0..<count).isEqual(to: base64) ? consume bytes : nil
    }

    private static func trimmed(
        _ line: Slice<UnsafeRawBufferPointer>
    ) -> Slice<UnsafeRawBufferPointer> {
        line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    private static let lineFeed = UInt8(ascii: "\n")
}
