import Glibc
import Loop
import Secrets
import Testing
import Wire

@testable import Bus

/// What libzmq leaves in the memory of a process that sends and receives secrets.
@Suite(.busLoop, .serialized, .timeLimit(.minutes(1)))
struct LibraryMemoryRules {
    @Test @ServiceLoop func nothingOfAnAttachmentStaysInMemory() async throws {
        let needle = Page(), service = try EchoService()
        KernelRandom().fill(needle.bytes)
        try await exchange(needle, with: service)
        #expect(copies(of: needle) == 0)
    }

    @Test func theSearchFindsACopy() throws {
        let needle = Page()
        KernelRandom().fill(needle.bytes)
        let planted = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 16)
        planted.copyMemory(from: UnsafeRawBufferPointer(rebasing: needle.bytes[..<256]))
        #expect(copies(of: needle) == 1)
        planted.deallocate()
    }

    /// Sends it and gets it back; what has carried it is let go.
    @ServiceLoop private func exchange(_ needle: Page, with service: EchoService) async throws {
        let link = try service.link(service.admit("a"))
        let secret = SharedSecret(
            SecretBytes(copying: UnsafeRawBufferPointer(rebasing: needle.bytes[..<256])))
        let plain = request(1)
        let frames = RequestFrames(header: plain.header, body: plain.body, attachments: [secret])
        let reply = try await link.exchange(frames, id: 1, timeoutMilliseconds: 5_000)
        #expect(reply.attachments.first.map { $0.bytes.isEqual(to: secret.bytes) } == true)
        service.received = []
        link.close()
    }

    /// How often the later half of the needle stands in this process, but for the page itself.
    private func copies(of needle: Page) -> Int {
        let window = Page(count: 1 << 20)
        let half = UnsafeRawBufferPointer(rebasing: needle.bytes[128..<256])
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        defer { close(memory) }
        var count = 0
        for mapping in writableMappings()
        where !mapping.overlaps(needle.place) && !mapping.overlaps(window.place) {
            for start in stride(from: mapping.lowerBound, to: mapping.upperBound, by: 1 << 19) {
                let length = min(window.bytes.count, mapping.upperBound - start)
                let read = pread(memory, window.bytes.baseAddress, length, off_t(start))
                guard read > 0 else { continue }
                count += occurrences(
                    of: half, in: UnsafeRawBufferPointer(rebasing: window.bytes[..<read]),
                    beginningBefore: 1 << 19)
            }
        }
        return count
    }

    private func occurrences(
        of needle: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer,
        beginningBefore limit: Int
    ) -> Int {
        guard let start = bytes.baseAddress, let wanted = needle.baseAddress else { return 0 }
        let end = min(limit, bytes.count - needle.count + 1)
        var count = 0, from = 0
        while from < end, let found = memchr(start + from, Int32(needle[0]), end - from) {
            if memcmp(found, wanted, needle.count) == 0 { count += 1 }
            from = UnsafeRawPointer(found) - start + 1
        }
        return count
    }

    private func writableMappings() -> [Range<Int>] {
        var text: [UInt8] = []
        let maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
        defer { close(maps) }
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(maps, &piece, piece.count), count > 0 {
            text += piece.prefix(count)
        }
        return text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
            let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            guard ends.count == 2, fields[1].hasPrefix("rw") else { return nil }
            return ends[0]..<ends[1]
        }
    }
}

/// Memory of its own, so that the search can pass it over.
private final class Page {
    let bytes: UnsafeMutableRawBufferPointer

    init(count: Int = 4_096) {
        // A shared one is never joined with its neighbours.
        let flags = MAP_SHARED | MAP_ANONYMOUS
        let start = mmap(nil, count, PROT_READ | PROT_WRITE, flags, -1, 0)
        bytes = UnsafeMutableRawBufferPointer(start: start, count: count)
    }

    deinit { munmap(bytes.baseAddress, bytes.count) }

    var place: Range<Int> {
        let start = Int(bitPattern: bytes.baseAddress)
        return start..<start + bytes.count
    }
}
