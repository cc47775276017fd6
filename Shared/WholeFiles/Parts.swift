internal import Glibc
internal import Secrets

/// A file on the disk that has not got its name yet.
final class PartFile {
    private let folder: Folder
    private let name: String
    private let descriptor: Int32
    /// The name that it has now.
    private var current: String?

    /// Writes it and brings it to the disk.
    convenience init(
        _ file: NewFile, in folder: Folder, random: some RandomSource
    ) throws(WholeFileError) {
        try self.init(named: file.name, in: folder, random: random)
        try file.bytes.withUnsafeBytes { bytes in
            Result { () throws(WholeFileError) in try write(bytes) }
        }.get()
        try flush()
        try readBack(file.bytes)
    }

    /// One to which nothing is written yet.
    init(
        named name: String, in folder: Folder, random: some RandomSource
    ) throws(WholeFileError) {
        self.folder = folder
        self.name = name
        let made = try PartName.claim(in: folder, for: name, random: random) { part in
            openat(folder.descriptor, part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        }
        descriptor = made.descriptor
        current = made.name
    }

    deinit {
        if current != name { remove() }
        close(descriptor)
    }

    /// Gives it its name.
    func settle() throws(WholeFileError) {
        guard let current else { return }
        try folder.rename(current, to: name)
        self.current = name
    }

    func remove() {
        if let current { folder.remove(current) }
        current = nil
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(WholeFileError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Brings what was written to the disk.
    func flush() throws(WholeFileError) {
        guard fsync(descriptor) == 0 else { throw failure }
    }

    /// What was written, from its beginning; none where it is over.
    func read(_ count: Int, at offset: Int) throws(WholeFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { target in
                pread(
                    descriptor, target.baseAddress.map { $0 + filled }, target.count - filled,
                    off_t(offset + filled))
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw failure }
            guard got > 0 else { break }
            filled += got
        }
        return Array(bytes[..<filled])
    }

    private func readBack(_ bytes: [UInt8]) throws(WholeFileError) {
        guard try read(bytes.count + 1, at: 0) == bytes else {
            throw .differs(path: folder.path(of: name))
        }
    }

    private var failure: WholeFileError { .notWritten(path: folder.path(of: name), code: errno) }
}

/// A folder that has not got its name yet.
final class PartFolder {
    private let parent: Folder
    private let name: String
    private let descriptor: Int32
    private var current: String

    init(
        _ name: String, in parent: Folder, random: some RandomSource
    ) throws(WholeFileError) {
        self.parent = parent
        self.name = name
        let made = try PartName.claim(in: parent, for: name, random: random) { part in
            guard mkdirat(parent.descriptor, part, 0o700) == 0 else { return -1 }
            return openat(parent.descriptor, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        descriptor = made.descriptor
        current = made.name
    }

    deinit { close(descriptor) }

    var path: String { parent.path(of: current) }

    func settle() throws(WholeFileError) {
        try parent.rename(current, to: name)
        current = name
    }

    /// Removes it with these files in it.
    func remove(_ files: [String]) {
        for file in files { unlinkat(descriptor, file, 0) }
        parent.removeFolder(current)
    }
}

/// A name that nothing else has, with a lock that tells other writers that it is in use.
///
/// Sixteen digits are drawn, and eight follow from them: a name that somebody else gave does not
/// have these.
enum PartName {
    private static let triesMax = 8
    private static let drawnBytes = 8

    /// - Parameter make: makes what has the name and opens it, or answers a negative number.
    static func claim(
        in folder: Folder, for name: String, random: some RandomSource,
        _ make: (String) -> Int32
    ) throws(WholeFileError) -> (name: String, descriptor: Int32) {
        for _ in 0..<triesMax {
            let part = text(of: random.bytes(drawnBytes))
            let descriptor = make(part)
            guard descriptor >= 0 else {
                if errno == EEXIST { continue }
                throw .notWritten(path: folder.path(of: name), code: errno)
            }
            // A file system without locks has no other writer that could look for one.
            _ = flock(descriptor, LOCK_EX | LOCK_NB)
            // One that took it for a leftover before the lock has removed it.
            if folder.has(part) { return (part, descriptor) }
            close(descriptor)
        }
        throw .notWritten(path: folder.path(of: name), code: EEXIST)
    }

    private static func text(of drawn: [UInt8]) -> String {
        WholeFiles.partPrefix + digits(drawn) + digits(check(of: drawn))
    }

    /// Whether a writer gave this name.
    static func isOurs(_ name: String) -> Bool {
        guard name.hasPrefix(WholeFiles.partPrefix) else { return false }
        let digits = Array(name.utf8.dropFirst(WholeFiles.partPrefix.utf8.count))
        guard digits.count == 2 * (drawnBytes + 4) else { return false }
        let drawn = stride(from: 0, to: 2 * drawnBytes, by: 2).map { index in
            UInt8(String(decoding: digits[index..<(index + 2)], as: UTF8.self), radix: 16)
        }
        let bytes = drawn.compactMap(\.self)
        return bytes.count == drawnBytes && text(of: bytes) == name
    }

    /// FNV-1a over 32 bits.
    private static func check(of bytes: [UInt8]) -> [UInt8] {
        let hash = bytes.reduce(0x811C_9DC5 as UInt32) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return withUnsafeBytes(of: hash.bigEndian) { Array($0) }
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
