internal import CUTF8Proc

/// One pass over a text that replaces characters with a whole-number value below ten.
///
/// The borders of characters come from the standard library's own recognizer, so that they are
/// those of `Character` in this runtime; utf8proc's table of marks is older, and would split some
/// of them off their digit.
struct DigitMapping {
    private let source: UnsafeRawBufferPointer
    private let target: UnsafeMutableRawBufferPointer
    private var written = 0

    /// The target has room for the whole source.
    init(source: UnsafeRawBufferPointer, target: UnsafeMutableRawBufferPointer) {
        precondition(target.count >= source.count)
        self.source = source
        self.target = target
    }

    /// How many bytes of the target are the result.
    mutating func run() throws(TextError) -> Int {
        var recognizer = Unicode._CharacterRecognizer()
        var start = 0
        var offset = 0
        var first: Unicode.Scalar?
        var isSingle = false
        while offset < source.count {
            let (scalar, length) = try decode(at: offset)
            if recognizer.hasBreak(before: scalar) || first == nil {
                write(start..<offset, isSingle ? first : nil)
                start = offset
                first = scalar
                isSingle = true
            } else {
                isSingle = false
            }
            offset += length
        }
        write(start..<offset, isSingle ? first : nil)
        return written
    }

    /// Writes the character in the range, whose one scalar is given where it has only one.
    private mutating func write(_ range: Range<Int>, _ only: Unicode.Scalar?) {
        if let digit = only.flatMap(Self.digit) {
            target[written] = UInt8(ascii: "0") + digit
            written += 1
        } else {
            for index in range {
                target[written] = source[index]
                written += 1
            }
        }
    }

    private func decode(at offset: Int) throws(TextError) -> (Unicode.Scalar, length: Int) {
        let rest = UnsafeRawBufferPointer(rebasing: source[offset...])
        var value: Int32 = -1
        let length = utf8proc_iterate(
            rest.baseAddress?.assumingMemoryBound(to: UInt8.self), rest.count, &value)
        guard length > 0, let value = UInt32(exactly: value), let scalar = Unicode.Scalar(value)
        else { throw .invalidUTF8 }
        return (scalar, length)
    }

    /// What `Character.wholeNumberValue` is for a character of this one scalar, where below ten.
    private static func digit(_ scalar: Unicode.Scalar) -> UInt8? {
        guard let value = scalar.properties.numericValue, let digit = UInt8(exactly: value),
            digit < 10
        else { return nil }
        return digit
    }
}
