internal import Glibc
internal import Secrets

/// Writes to descriptors, whole and at once, so that nothing is left unwritten at the end.
enum Output {
    /// Writes text and a line feed.
    ///
    /// - Returns: whether all was taken; a reader who is gone is no failure.
    @discardableResult
    static func line(_ text: String, to descriptor: Int32) -> Bool {
        line(Array(text.utf8), to: descriptor)
    }

    @discardableResult
    static func line(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        (bytes + [0x0A]).withUnsafeBytes { write($0, to: descriptor) || errno == EPIPE }
    }

    /// Writes text as it is.
    static func text(_ text: String, to descriptor: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { write($0, to: descriptor) }
    }

    /// Writes secret bytes without a copy in ordinary memory.
    ///
    /// - Returns: whether all was taken.
    static func secret(_ bytes: borrowing SecretBytes, to descriptor: Int32) -> Bool {
        bytes.withBytes { write($0, to: descriptor) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 && (errno == EINTR || errno == EAGAIN) {
                waitForRoom(descriptor)
                continue
            }
            guard count > 0 else {
                if count == 0 { errno = EIO }
                return false
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    /// A descriptor that does not block may be full for a while.
    private static func waitForRoom(_ descriptor: Int32) {
        var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&item, 1, 1_000)
    }
}
