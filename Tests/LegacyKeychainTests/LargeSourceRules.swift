import Foundation
import LegacyKeychain
import PropertyLists
import Secrets
import Synchronization
import TestKit
import Testing

/// Counts what is read of a source.
final class CountingSource: ByteSource {
    struct Reads {
        var count = 0
        var bytes = 0
        var largest = 0
    }

    private let source: MemorySource
    private let state = Mutex(Reads())

    init(_ bytes: [UInt8]) { source = MemorySource(copying: bytes) }

    var count: Int { source.count }

    var reads: Reads { state.withLock { $0 } }

    func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(ByteSourceError) {
        try source.read(at: offset, into: buffer)
        state.withLock {
            $0.count += 1
            $0.bytes += buffer.count
            $0.largest = max($0.largest, buffer.count)
        }
    }
}

@Suite("A source of ten thousand rows")
struct LargeSourceRules {
    static let rowCount = 10_000

    static func file(_ rowCount: Int) -> LegacyKeychainFile {
        LegacyKeychainFile(
            (0..<rowCount).map { number in
                .init(
                    account: "WALLET_MNEMONIC_KEY_\(String(number, radix: 16))",
                    value: Array("phrase number \(number) about abandon".utf8))
            })
    }

    @Test(
        "is read in small parts, a few times over at most",
        arguments: FileForm.allCases)
    func parts(_ form: FileForm) throws {
        let counting = CountingSource(form.bytes(of: Self.file(Self.rowCount)))
        let rows = try KeychainSource(counting).rows()
        var count = 0
        while let row = try rows.next() {
            guard case .item = row else { throw KeychainError.noValue }
            count += 1
        }
        #expect(count == Self.rowCount)
        #expect(counting.reads.largest <= 4_096)
        #expect(counting.reads.bytes < 6 * counting.count)
    }

    /// In processes of their own, whose memory nobody else uses.
    @Test(
        "takes no more memory than one of a hundred rows, but for half a megabyte",
        arguments: FileForm.allCases)
    func memory(_ form: FileForm) async throws {
        let folder = try TemporaryFolder()
        for (name, rowCount) in [("small", 100), ("large", Self.rowCount)] {
            let url = URL(filePath: folder.path(of: name))
            try Data(form.bytes(of: Self.file(rowCount))).write(to: url)
        }
        let path = folder.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            try readThrough("\(path)/small", expecting: 100)
            let before = try peakKilobytes()
            try readThrough("\(path)/large", expecting: LargeSourceRules.rowCount)
            let grown = try peakKilobytes() - before
            precondition(grown <= 512, "grown by \(grown) kB")
        }
    }

    /// The table of a list may send many references to one row.
    @Test("may be one row many times over, and costs no more")
    func oneRow() throws {
        let keys = (0..<125).map { ("key\($0)", ListValue.bool(true)) }
        let row = ListValue.dictionary(
            [("svce", .text("s")), ("acct", .text("a")), ("v_Data", .data([1]))] + keys)
        let same = Array(repeating: ListValue.text("same"), count: 99)
        var bytes = ListValue.dictionary([("genp", .array([row] + same))]).binary()
        // Objects are numbered as they are met: 0 is the root, 1 its key, 2 the array, 3 the row.
        let table = bytes.suffix(8).reduce(0) { $0 << 8 | Int($1) }
        let width = Int(bytes[bytes.count - 26])
        let text = try #require(
            bytes.indices.first { bytes[$0...].starts(with: Array("same".utf8)) })
        let entries = stride(from: table, to: bytes.count - 32, by: width)
        let entry = try #require(
            entries.first { bytes[$0..<$0 + width].reduce(0) { $0 << 8 | Int($1) } == text - 1 })
        bytes.replaceSubrange(
            entry..<entry + width, with: bytes[table + 3 * width..<table + 4 * width])
        let counting = CountingSource(bytes)
        let rows = try KeychainSource(counting).all()
        #expect(rows.count == 100)
        #expect(rows.allSatisfy { if case .item = $0 { true } else { false } })
        #expect(counting.reads.bytes < 4 * counting.count)
    }
}

private func readThrough(_ path: String, expecting expected: Int) throws {
    let source = try KeychainSource(FileSource(path: path))
    let rows = try source.rows()
    var count = 0
    while let row = try rows.next() {
        guard case .item(let item) = row else { throw KeychainError.noValue }
        _ = try source.value(at: item.value)
        count += 1
    }
    precondition(count == expected)
}

/// The most memory that the process ever had in RAM.
private func peakKilobytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
}
