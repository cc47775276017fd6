/// A wallet as the legacy app named it: the rest of its account, compared byte for byte.
///
/// It is foreign text. A sound one has 1 to 16 lower-case hexadecimal digits.
public struct LegacyID: Hashable, Comparable, Sendable {
    public let text: String

    public init(_ text: some StringProtocol) { self.text = String(text) }

    // The equality of String is canonical equivalence, which is not that of accounts.
    public static func == (left: LegacyID, right: LegacyID) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8.max)
    }

    public static func < (left: LegacyID, right: LegacyID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// Many ids in little memory: their bytes one after the other.
///
/// A source can have a hundred thousand, and a text of its own for each would take four times as
/// much.
struct LegacyIDList: RandomAccessCollection, Sendable {
    private var bytes: [UInt8] = []
    private var ends: [Int32] = []

    var byteCount: Int { bytes.count }

    /// Programmer error where all together have 2 GiB or more.
    mutating func append(_ id: some StringProtocol) {
        bytes.append(contentsOf: id.utf8)
        ends.append(Int32(bytes.count))
    }

    var startIndex: Int { 0 }
    var endIndex: Int { ends.count }

    subscript(index: Int) -> LegacyID {
        LegacyID(String(decoding: utf8(at: index), as: UTF8.self))
    }

    /// The indices in the order of the ids; of equal ones, the first comes first.
    func sortedIndices() -> [Int32] {
        (0..<Int32(count)).sorted { left, right in
            let left = Int(left)
            let right = Int(right)
            if precedes(utf8(at: left), utf8(at: right)) { return true }
            return left < right && !precedes(utf8(at: right), utf8(at: left))
        }
    }

    func isEqual(at left: Int, to right: Int) -> Bool {
        utf8(at: left).elementsEqual(utf8(at: right))
    }

    /// Where an id stands or would stand in a list that is sorted.
    func firstIndex(notBelow id: LegacyID) -> Int {
        var range = startIndex..<endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if utf8(at: middle).lexicographicallyPrecedes(id.text.utf8) {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    /// The place of an id in a list that is sorted; nil where it is not there.
    func place(of id: LegacyID) -> Int? {
        let index = firstIndex(notBelow: id)
        guard index < endIndex, utf8(at: index).elementsEqual(id.text.utf8) else { return nil }
        return index
    }

    private func utf8(at index: Int) -> ArraySlice<UInt8> {
        let start = index == 0 ? 0 : Int(ends[index - 1])
        return bytes[start..<Int(ends[index])]
    }

    private func precedes(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        left.lexicographicallyPrecedes(right)
    }
}
