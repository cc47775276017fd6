internal import Secrets

/// A source seen through a few pages in secret memory, so that neither its length nor what it holds
/// reaches ordinary memory.
///
/// The page that was not used for the longest time makes room for the next one.
public struct PagedBytes: ~Copyable, Sendable {
    private static let pageBytes = 4_096
    private static let slotCount = 8

    public let count: Int
    private let source: any ByteSource
    private var memory = SecretBytes(count: pageBytes * slotCount)
    /// The page of the source in each slot; -1 for none.
    private var pages = [Int](repeating: -1, count: slotCount)
    private var lastUses = [UInt64](repeating: 0, count: slotCount)
    private var uses: UInt64 = 0
    private var current = 0

    public init(_ source: any ByteSource) {
        self.source = source
        count = source.count
    }

    /// Throws ``PropertyListError/malformed`` beyond the end, as where a list ends too soon.
    public mutating func byte(at offset: Int) throws(PropertyListError) -> UInt8 {
        guard offset >= 0, offset < count else { throw .malformed }
        try turn(to: offset / Self.pageBytes)
        let place = current * Self.pageBytes + offset % Self.pageBytes
        return memory.withBytes { $0[place] }
    }

    /// A big-endian number of one to eight bytes.
    public mutating func unsigned(
        at offset: Int, width: Int
    ) throws(PropertyListError) -> UInt64 {
        precondition(1...8 ~= width, "no number has so many bytes")
        guard offset >= 0, offset <= count - width else { throw .malformed }
        var value: UInt64 = 0
        for position in offset..<offset + width {
            value = value << 8 | UInt64(try byte(at: position))
        }
        return value
    }

    /// Copies as many bytes as the buffer has room for.
    public mutating func copy(
        at start: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(PropertyListError) {
        guard start >= 0, start <= count, buffer.count <= count - start else { throw .malformed }
        var done = 0
        while done < buffer.count {
            let offset = start + done
            try turn(to: offset / Self.pageBytes)
            let inPage = offset % Self.pageBytes
            let length = min(Self.pageBytes - inPage, buffer.count - done)
            let first = current * Self.pageBytes + inPage
            memory.withBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[first..<first + length]))
            }
            done += length
        }
    }

    /// Where a byte is next found, from an offset on; nil where it is not.
    public mutating func next(
        _ wanted: UInt8, from start: Int
    ) throws(PropertyListError) -> Int? {
        var offset = start
        while offset < count {
            try turn(to: offset / Self.pageBytes)
            let inPage = offset % Self.pageBytes
            let length = min(Self.pageBytes - inPage, count - offset)
            let first = current * Self.pageBytes + inPage
            let found = memory.withBytes { bytes in
                bytes[first..<first + length].firstIndex(of: wanted)
            }
            if let found { return offset + found - first }
            offset += length
        }
        return nil
    }

    /// Makes a page the current one.
    private mutating func turn(to page: Int) throws(PropertyListError) {
        if pages[current] == page { return }
        uses += 1
        if let slot = pages.firstIndex(of: page) {
            current = slot
        } else {
            try load(page)
        }
        lastUses[current] = uses
    }

    private mutating func load(_ page: Int) throws(PropertyListError) {
        let slot = lastUses.indices.min { lastUses[$0] < lastUses[$1] } ?? 0
        pages[slot] = -1
        current = slot
        let first = page * Self.pageBytes
        let start = slot * Self.pageBytes
        let range = start..<start + min(Self.pageBytes, count - first)
        let source = source
        do throws(ByteSourceError) {
            try memory.withMutableBytes { bytes throws(ByteSourceError) in
                try source.read(
                    at: first, into: UnsafeMutableRawBufferPointer(rebasing: bytes[range]))
            }
        } catch {
            throw .source(error)
        }
        pages[slot] = page
    }
}
