public import Secrets

/// Writes one JSON object: members in the order of the calls, no blanks, and only those characters
/// escaped that must be, so that the same values always give the same bytes.
///
/// Each key is written once; that is the caller's duty. After a secret was written all text lives
/// in secret memory, and the object can be had as `finishSecret()` only.
public struct JSONWriter: ~Copyable {
    private var plain: [UInt8] = []
    private var secret = SecretBytes(count: 0)
    private var secretCount = 0
    private var holdsSecret = false
    private var needsComma = false

    public init() {
        // Most objects fit.
        plain.reserveCapacity(256)
        append(0x7B)
    }

    /// The object's bytes.
    ///
    /// Programmer error after a secret was written.
    public consuming func finish() -> [UInt8] {
        precondition(!holdsSecret, "an object with a secret leaves the writer in secret memory")
        append(0x7D)
        return plain
    }

    /// The object's bytes in secret memory.
    public consuming func finishSecret() -> SecretBytes {
        append(0x7D)
        guard holdsSecret else { return SecretBytes(copying: plain) }
        return secret.slice(0..<secretCount)
    }

    // MARK: Scalars

    public mutating func string(_ key: String, _ value: String) {
        name(key)
        quoted(value)
    }

    public mutating func integer(_ key: String, _ value: Int) {
        name(key)
        append(number: value)
    }

    public mutating func uint64(_ key: String, _ value: UInt64) {
        name(key)
        append(digits: value)
    }

    /// Writes the shortest text that reads back as the same double.
    ///
    /// Not for infinities or NaN.
    public mutating func number(_ key: String, _ value: Double) {
        precondition(value.isFinite, "JSON has no such number")
        name(key)
        append(text: value.description)
    }

    public mutating func bool(_ key: String, _ value: Bool) {
        name(key)
        append(text: value ? "true" : "false")
    }

    public mutating func null(_ key: String) {
        name(key)
        append(text: "null")
    }

    // MARK: Bytes

    /// Writes standard base64 with padding.
    public mutating func base64(_ key: String, _ value: [UInt8]) {
        name(key)
        value.withUnsafeBytes { base64($0) }
    }

    /// Writes standard base64 with padding; from here on the text is in secret memory.
    public mutating func secretBase64(_ key: String, _ value: borrowing SecretBytes) {
        moveToSecretMemory()
        name(key)
        value.withBytes { base64($0) }
    }

    /// Writes lower-case hexadecimal.
    public mutating func hex(_ key: String, _ value: [UInt8]) {
        string(key, Hex.encode(value))
    }

    public mutating func identifier(_ key: String, _ value: some TextIdentifier) {
        string(key, value.text)
    }

    // MARK: Members that are left out when there is no value

    public mutating func optionalString(_ key: String, _ value: String?) {
        if let value { string(key, value) }
    }

    public mutating func optionalInteger(_ key: String, _ value: Int?) {
        if let value { integer(key, value) }
    }

    public mutating func optionalUInt64(_ key: String, _ value: UInt64?) {
        if let value { uint64(key, value) }
    }

    public mutating func optionalBool(_ key: String, _ value: Bool?) {
        if let value { bool(key, value) }
    }

    public mutating func optionalBase64(_ key: String, _ value: [UInt8]?) {
        if let value { base64(key, value) }
    }

    public mutating func optionalHex(_ key: String, _ value: [UInt8]?) {
        if let value { hex(key, value) }
    }

    public mutating func optionalIdentifier<T: TextIdentifier>(_ key: String, _ value: T?) {
        if let value { identifier(key, value) }
    }

    // MARK: Containers

    public mutating func object(_ key: String, _ members: (inout JSONWriter) -> Void) {
        name(key)
        braced(members)
    }

    public mutating func objects<T>(
        _ key: String, _ items: some Sequence<T>, _ members: (inout JSONWriter, T) -> Void
    ) {
        elements(key, items) { writer, item in writer.braced { members(&$0, item) } }
    }

    public mutating func strings(_ key: String, _ values: some Sequence<String>) {
        elements(key, values) { writer, value in writer.quoted(value) }
    }

    public mutating func identifiers<T: TextIdentifier>(_ key: String, _ values: some Sequence<T>) {
        elements(key, values) { writer, value in writer.quoted(value.text) }
    }

    public mutating func integers(_ key: String, _ values: some Sequence<Int>) {
        elements(key, values) { writer, value in writer.append(number: value) }
    }

    private mutating func braced(_ members: (inout JSONWriter) -> Void) {
        append(0x7B)
        needsComma = false
        members(&self)
        append(0x7D)
        needsComma = true
    }

    private mutating func elements<T>(
        _ key: String, _ items: some Sequence<T>, _ write: (inout JSONWriter, T) -> Void
    ) {
        name(key)
        append(0x5B)
        var isFirst = true
        for item in items {
            if !isFirst { append(0x2C) }
            isFirst = false
            write(&self, item)
        }
        append(0x5D)
        needsComma = true
    }

    // MARK: Text

    private mutating func name(_ key: String) {
        if needsComma { append(0x2C) }
        needsComma = true
        quoted(key)
        append(0x3A)
    }

    private mutating func quoted(_ value: String) {
        append(0x22)
        var value = value
        value.withUTF8 { text in
            if text.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) {
                escaped(text)
            } else {
                append(text)
            }
        }
        append(0x22)
    }

    private mutating func escaped(_ text: UnsafeBufferPointer<UInt8>) {
        for byte in text {
            switch byte {
            case 0x22, 0x5C:
                append(0x5C)
                append(byte)
            case 0x08: append(text: "\\b")
            case 0x09: append(text: "\\t")
            case 0x0A: append(text: "\\n")
            case 0x0C: append(text: "\\f")
            case 0x0D: append(text: "\\r")
            case 0..<0x20:
                append(text: "\\u00")
                append(text: Hex.encode([byte]))
            default: append(byte)
            }
        }
    }

    private mutating func base64(_ bytes: UnsafeRawBufferPointer) {
        append(0x22)
        extend(by: Base64.standard.encodedCount(bytes.count)) {
            Base64.standard.encode(bytes, into: $0)
        }
        append(0x22)
    }

    private mutating func append(number: Int) {
        if number < 0 { append(0x2D) }
        append(digits: UInt64(number.magnitude))
    }

    private mutating func append(digits number: UInt64) {
        if number >= 10 { append(digits: number / 10) }
        append(0x30 + UInt8(number % 10))
    }

    // MARK: Storage

    private mutating func append(text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    private mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        guard holdsSecret else { return plain.append(contentsOf: text) }
        for byte in text { append(byte) }
    }

    private mutating func append(_ byte: UInt8) {
        if holdsSecret {
            extend(by: 1) { $0[0] = byte }
        } else {
            plain.append(byte)
        }
    }

    private mutating func extend(by count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        guard holdsSecret else {
            let start = plain.count
            plain.append(contentsOf: repeatElement(0, count: count))
            plain.withUnsafeMutableBytes {
                fill(UnsafeMutableRawBufferPointer(rebasing: $0[start...]))
            }
            return
        }
        let end = secretCount + count
        if end > secret.count { growSecret(to: max(end, secret.count * 2)) }
        let range = secretCount..<end
        secret.withMutableBytes { fill(UnsafeMutableRawBufferPointer(rebasing: $0[range])) }
        secretCount = end
    }

    private mutating func growSecret(to capacity: Int) {
        let used = secretCount
        secret = SecretBytes(count: capacity) { target in
            secret.withBytes {
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<used]))
            }
        }
    }

    private mutating func moveToSecretMemory() {
        guard !holdsSecret else { return }
        holdsSecret = true
        let earlier = plain
        plain = []
        extend(by: earlier.count) { target in
            earlier.withUnsafeBytes { target.copyMemory(from: $0) }
        }
    }
}
