internal import AuthorityMessages
internal import ChildProcesses
internal import DeviceKeyFrames
internal import Glibc
internal import Secrets

/// One process of `device-key-reader`, from its start to its end.
enum ReaderProcess {
    struct Command: Sendable {
        let program: String
        let arguments: [String]
        /// `NAME=VALUE`, before what the process has.
        let environment: [String]
    }

    /// Starts one, tells it what to do, and kills it when it has answered or the time is over.
    ///
    /// Blocks the calling thread.
    static func ask(
        _ frame: SharedSecret, _ command: Command, milliseconds: UInt64
    ) -> DeviceKeyAnswer {
        let end = now() + milliseconds
        let reader = ChildProcess(
            [command.program, "\(getpid())"] + command.arguments,
            environment: command.environment, leadsGroup: true)
        guard let reader else { return .failed(.tokenFailed) }
        // Whatever a module of it started ends with it.
        defer { reader.kill() }
        // A pipe has room for a whole frame, so this waits for nobody.
        guard write(frame, to: reader.input) else { return .failed(.tokenFailed) }
        reader.closeInput()
        return read(from: reader.output, until: end)
    }

    // MARK: What crosses the pipes

    private static func write(_ frame: SharedSecret, to descriptor: Int32) -> Bool {
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

    private static func read(from descriptor: Int32, until end: UInt64) -> DeviceKeyAnswer {
        do throws(ReadFailure) {
            let head = try read(Frame.lengthBytes, from: descriptor, until: end)
            guard let length = Frame.length(head.bytes.withBytes { Array($0) }) else {
                throw .over
            }
            let frame = try read(length, from: descriptor, until: end)
            return (try? DeviceKeyAnswer(decoding: frame.bytes)) ?? .failed(.tokenFailed)
        } catch {
            return .failed(error == .late ? .timedOut : .tokenFailed)
        }
    }

    private enum ReadFailure: Error {
        case late
        /// It ended without an answer.
        case over
    }

    private static func read(
        _ count: Int, from descriptor: Int32, until end: UInt64
    ) throws(ReadFailure) -> SharedSecret {
        var memory = SecretBytes(count: count)
        var filled = 0
        while filled < count {
            let now = now()
            guard now < end else { throw .late }
            var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&item, 1, Int32(clamping: end - now))
            if ready < 0 && errno == EINTR { continue }
            guard ready > 0 else { throw ready == 0 ? .late : .over }
            let got = memory.withMutableBytes {
                Glibc.read(descriptor, $0.baseAddress.map { $0 + filled }, count - filled)
            }
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { throw .over }
            filled += got
        }
        return SharedSecret(memory)
    }

    /// In milliseconds, of a clock that only goes forward.
    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
