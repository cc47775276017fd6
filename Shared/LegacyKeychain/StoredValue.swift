internal import PropertyLists
internal import Secrets
internal import Wire

/// A value as it stands in a source.
enum StoredValue {
    /// The value at a location; nil where there is none that can be read.
    static func read(
        _ location: ValueLocation, from source: any ByteSource
    ) throws(ByteSourceError) -> SecretBytes? {
        guard location.offset >= 0, 0...KeychainSource.valueLengthMax ~= location.length,
            location.offset <= source.count, location.length <= source.count - location.offset
        else { return nil }
        let stored = try source.secret(location.offset..<location.offset + location.length)
        switch location.encoding {
        case .raw: return stored
        case .base64InXML: return fromXML(stored)
        case .base64InJSON: return fromJSON(stored)
        }
    }

    /// Takes the white space out, and decodes.
    private static func fromXML(_ text: consuming SecretBytes) -> SecretBytes? {
        var letters = 0
        text.withMutableBytes { bytes in
            for index in bytes.indices {
                switch bytes[index] {
                case 0x20, 0x09, 0x0A, 0x0D: break
                default:
                    bytes[letters] = bytes[index]
                    letters += 1
                }
            }
        }
        return text.withBytes { decode(UnsafeRawBufferPointer(rebasing: $0[..<letters])) }
    }

    /// Puts the quotes back, and reads the string as JSON.
    private static func fromJSON(_ text: borrowing SecretBytes) -> SecretBytes? {
        let quoted = SecretBytes(count: text.count + 2) { target in
            target[0] = 0x22
            text.withBytes {
                UnsafeMutableRawBufferPointer(rebasing: target[1...]).copyMemory(from: $0)
            }
            target[target.count - 1] = 0x22
        }
        do throws(JSONError) {
            return try JSONDocument(quoted, limit: quoted.count).root.secretBase64("value")
        } catch {
            return nil
        }
    }

    private static func decode(_ letters: UnsafeRawBufferPointer) -> SecretBytes? {
        guard let count = Base64.standard.decodedCount(letters) else { return nil }
        var isCanonical = false
        let value = SecretBytes(count: count) {
            isCanonical = Base64.standard.decode(letters, into: $0)
        }
        guard isCanonical else { return nil }
        return value
    }
}
