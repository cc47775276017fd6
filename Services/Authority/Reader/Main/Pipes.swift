import DeviceKeyFrames
import Glibc
import Secrets

/// The two pipes to the authority.
enum Pipes {
    /// Keeps the output for the answer alone: what modules print goes nowhere.
    static func takeOutput() -> Int32 {
        let output = dup(STDOUT_FILENO)
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard output >= 0, nowhere >= 0, dup2(nowhere, STDOUT_FILENO) >= 0,
            dup2(nowhere, STDERR_FILENO) >= 0, fcntl(output, F_SETFD, FD_CLOEXEC) == 0
        else { _exit(1) }
        return output
    }

    /// One frame; nil where the authority sends none.
    static func readFrame(_ descriptor: Int32) -> SharedSecret? {
        guard let head = read(Frame.lengthBytes, from: descriptor),
            let length = Frame.length(head.bytes.withBytes { Array($0) })
        else { return nil }
        return read(length, from: descriptor)
    }

    private static func read(_ count: Int, from descriptor: Int32) -> SharedSecret? {
        var memory = SecretBytes(count: count)
        var filled = 0
        while filled < count {
            let got = memory.withMutableBytes {
                Glibc.read(descriptor, $0.baseAddress.map { $0 + filled }, count - filled)
            }
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { return nil }
            filled += got
        }
        return SharedSecret(memory)
    }

    static func write(_ frame: SharedSecret, to descriptor: Int32) -> Bool {
        var written = 0
        while written < frame.bytes.count {
            let put = frame.bytes.withBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + written }, $0.count - written)
            }
            if put < 0 && errno == EINTR { continue }
            guard put > 0 else { return false }
            written += put
        }
        return true
    }
}
