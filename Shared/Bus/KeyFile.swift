internal import Glibc
internal import Secrets

/// How key files are read and replaced on disk.
enum KeyFile {
    /// No certificate is larger, in bytes.
    static let sizeLimit = 65_536

    /// Who may own a file and what its mode may allow.
    struct Rule {
        /// Bits that must not be set.
        let forbiddenMode: UInt32
        /// What a refusal asks for.
        let wantedMode: UInt32
        /// Whether only this user, or root too, or anybody may own it.
        let owners: Owners

        enum Owners {
            case thisUser
            case thisUserOrRoot
            case anybody
        }

        /// Read and written by this user alone.
        static let secret = Rule(
            forbiddenMode: 0o177, wantedMode: 0o600, owners: .thisUser)
        /// A key to trust: nobody else may change it.
        static let anchor = Rule(forbiddenMode: 0o022, wantedMode: 0o644, owners: .anybody)
        /// A key that gives rights: root or this user wrote it, nobody else may change it.
        static let admission = Rule(
            forbiddenMode: 0o022, wantedMode: 0o644, owners: .thisUserOrRoot)

        func admits(owner: uid_t) -> Bool {
            switch owners {
            case .thisUser: owner == geteuid()
            case .thisUserOrRoot: owner == geteuid() || owner == 0
            case .anybody: true
            }
        }
    }

    /// The whole content, in secret memory, after owner, mode and size were checked on the open
    /// file.
    static func read(_ path: String, rule: Rule) throws(CertificateError) -> SecretBytes {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path: path, code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .unreadable(path: path, code: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG, (0...sizeLimit).contains(Int(status.st_size))
        else { throw .notACertificate(path: path) }
        guard rule.admits(owner: status.st_uid) else { throw .foreignOwner(path: path) }
        let mode = status.st_mode & 0o7777
        guard mode & rule.forbiddenMode == 0 else {
            throw .tooOpen(path: path, mode: mode, wanted: rule.wantedMode)
        }
        return try SecretBytes(count: Int(status.st_size)) { buffer throws(CertificateError) in
            try fill(buffer, from: descriptor, path: path)
        }
    }

    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, path: String
    ) throws(CertificateError) {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = Glibc.read(descriptor, rest.baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                // A file that shrank while it was read is being written in place.
                throw .unreadable(path: path, code: count < 0 ? errno : EAGAIN)
            }
            filled += count
        }
    }

    /// Puts the content where the path says, whole or not at all, and durably.
    static func replace(
        _ path: String, mode: UInt32, with content: borrowing SecretBytes
    ) throws(CertificateError) {
        let draft = "\(path).\(KernelRandom().uuid()).tmp"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .notWritten(path: path, code: errno) }
        let written =
            content.withBytes { write($0, to: descriptor) }
            && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
        let code = errno
        close(descriptor)
        guard written else {
            unlink(draft)
            throw .notWritten(path: path, code: code)
        }
        guard rename(draft, path) == 0 else {
            let code = errno
            unlink(draft)
            throw .notWritten(path: path, code: code)
        }
        guard syncFolder(of: path) else { throw .notWritten(path: path, code: errno) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    /// Makes a renaming or removal durable.
    static func syncFolder(of path: String) -> Bool {
        let folder =
            path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}
