internal import Glibc

/// An ordinary file, opened for reading alone; it is never written.
public final class FileSource: ByteSource {
    public let count: Int
    private let descriptor: Int32

    /// Opens the file at a path whose last part is no symbolic link.
    ///
    /// Throws ``ByteSourceError/notAFile`` for what is no ordinary file, and
    /// ``ByteSourceError/failed(errno:)``.
    public init(path: String) throws(ByteSourceError) {
        // Not to wait for the other end of a pipe.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw errno == ELOOP ? .notAFile : .failed(errno: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let failure = errno
            close(descriptor)
            throw .failed(errno: failure)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notAFile
        }
        self.descriptor = descriptor
        count = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// What tells the file, as it stands now, from another one and from itself changed.
    public func currentMark() throws(ByteSourceError) -> FileMark {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .failed(errno: errno) }
        return FileMark(status)
    }

    public func read(
        at offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(ByteSourceError) {
        guard offset >= 0, offset <= count, buffer.count <= count - offset else {
            throw .outOfRange
        }
        guard let start = buffer.baseAddress else { return }
        var done = 0
        while done < buffer.count {
            let got = pread(descriptor, start + done, buffer.count - done, offset + done)
            if got > 0 {
                done += got
            } else if got == 0 {
                throw .shortened
            } else if errno != EINTR {
                throw .failed(errno: errno)
            }
        }
    }
}

/// What tells a file from another one, and from itself after somebody wrote to it.
public struct FileMark: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: Moment
    /// Set by the kernel alone, so that a modification time that was put back deceives nobody.
    private let changed: Moment

    private struct Moment: Hashable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) {
            seconds = time.tv_sec
            nanoseconds = time.tv_nsec
        }
    }

    fileprivate init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = Moment(status.st_mtim)
        changed = Moment(status.st_ctim)
    }
}
