import Glibc
import PropertyLists
import Secrets
import TestKit
import Testing

@Suite("A byte source")
struct ByteSourceRules {
    private let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

    private func file(_ folder: TemporaryFolder, _ bytes: [UInt8]) throws -> String {
        let path = folder.path(of: "file")
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        return path
    }

    @Test("gives its bytes from anywhere, and none that it has not")
    func parts() throws {
        let folder = try TemporaryFolder()
        let sources: [any ByteSource] = [
            MemorySource(copying: bytes), MemorySource(SharedSecret(SecretBytes(copying: bytes))),
            try FileSource(path: file(folder, bytes)),
        ]
        for source in sources {
            #expect(source.count == bytes.count)
            for range in [
                0..<0, 0..<1, 4_000..<9_000, 19_999..<20_000, 20_000..<20_000, 0..<20_000,
            ] {
                let part = try source.secret(range)
                #expect(part.withBytes { Array($0) } == Array(bytes[range]))
            }
            for range in [-1..<1, 19_999..<20_001, 20_001..<20_001, Int.min..<0, 0..<Int.max] {
                #expect(throws: ByteSourceError.outOfRange) { _ = try source.secret(range) }
            }
            for offset in [-1, 20_000, Int.max] {
                #expect(throws: ByteSourceError.outOfRange) {
                    var byte: UInt8 = 0
                    try withUnsafeMutableBytes(of: &byte) { try source.read(at: offset, into: $0) }
                }
            }
        }
    }

    @Test("is the same through pages, in whatever order", arguments: 0..<3)
    func pages(_ seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        var paged = PagedBytes(MemorySource(copying: bytes))
        for _ in 0..<5_000 {
            let offset = random.number(in: 0...bytes.count - 1)
            #expect(try paged.byte(at: offset) == bytes[offset])
            let width = random.number(in: 1...8)
            if offset + width <= bytes.count {
                let value = bytes[offset..<offset + width].reduce(0) { $0 << 8 | UInt64($1) }
                #expect(try paged.unsigned(at: offset, width: width) == value)
            }
            let wanted = UInt8(random.number(in: 0...255))
            #expect(try paged.next(wanted, from: offset) == bytes[offset...].firstIndex(of: wanted))
        }
        for offset in [-1, bytes.count, Int.max, Int.min] {
            #expect(throws: PropertyListError.malformed) { try paged.byte(at: offset) }
            #expect(throws: PropertyListError.malformed) {
                try paged.unsigned(at: offset, width: 8)
            }
        }
        #expect(throws: PropertyListError.malformed) {
            try paged.unsigned(at: bytes.count - 7, width: 8)
        }
        #expect(try paged.next(0, from: bytes.count) == nil)
    }

    @Test("that is no ordinary file is refused")
    func otherFiles() throws {
        let folder = try TemporaryFolder()
        let path = try file(folder, bytes)
        let link = folder.path(of: "link")
        #expect(symlink(path, link) == 0)
        let pipe = folder.path(of: "pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [link, pipe, folder.path, "/dev/null"] {
            #expect(throws: ByteSourceError.notAFile) { try FileSource(path: path) }
        }
        #expect(throws: ByteSourceError.failed(errno: ENOENT)) {
            try FileSource(path: folder.path(of: "none"))
        }
    }

    @Test("that became shorter says so")
    func shortened() throws {
        let folder = try TemporaryFolder()
        let path = try file(folder, bytes)
        let source = try FileSource(path: path)
        #expect(truncate(path, 10) == 0)
        #expect(throws: ByteSourceError.shortened) { _ = try source.secret(5..<15) }
        #expect(try source.secret(0..<10).count == 10)
        var paged = PagedBytes(source)
        #expect(throws: PropertyListError.source(.shortened)) { try paged.byte(at: 100) }
        #expect(throws: PropertyListError.source(.shortened)) {
            _ = try BinaryPropertyList(source)
        }
    }
}
