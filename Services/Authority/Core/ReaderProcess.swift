internal import AuthorityMessages
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
        guard let input = pipe() else { return .failed(.tokenFailed) }
        guard let output = pipe() else {
            close(input.read)
            close(input.write)
            return .failed(.tokenFailed)
        }
        let process = spawn(command, input: input.read, output: output.write)
        close(input.read)
        close(output.write)
        defer { close(output.read) }
        guard let process else {
            close(input.write)
            return .failed(.tokenFailed)
        }
        // A pipe has room for a whole frame, so this waits for nobody.
        let isSent = write(frame, to: input.write)
        close(input.write)
        let answer = isSent ? read(from: output.read, until: end) : .failed(.tokenFailed)
        finish(process)
        return answer
    }

    /// Ends the process and whatever a module of it started.
    private static func finish(_ process: pid_t) {
        kill(-process, SIGKILL)
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
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

    // MARK: Starting

    private static func pipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// - Returns: its number, which is its process group's too; nil where the system starts none.
    private static func spawn(_ command: Command, input: Int32, output: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads of the pool take no signals; its alarm must reach it.
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var words = list([command.program, "\(getpid())"] + command.arguments)
        defer { for word in words { free(word) } }
        var variables = list(command.environment + ownEnvironment())
        defer { for variable in variables { free(variable) } }
        var process: pid_t = 0
        guard
            posix_spawn(&process, command.program, &actions, &attributes, &words, &variables) == 0
        else { return nil }
        return process
    }

    private static func list(_ words: [String]) -> [UnsafeMutablePointer<CChar>?] {
        words.map { strdup($0) } + [nil]
    }

    private static func ownEnvironment() -> [String] {
        var variables: [String] = []
        var next = environ
        while let variable = next.pointee {
            variables.append(String(cString: variable))
            next += 1
        }
        return variables
    }
}
