public import Glibc
internal import Synchronization

/// Another program, run with pipes for its input and output.
///
/// Standard error is shared. No descriptor but the three is open in it, as long as the others are
/// closed on execution, which all of Coffer's are.
public final class ChildProcess {
    /// Where to write what it reads.
    public let input: Int32
    /// Where to read what it writes.
    public let output: Int32

    /// Its number, which is its process group's too where it leads one.
    public let process: pid_t

    private let leadsGroup: Bool
    private var isInputOpen = true
    private var isOver = false

    /// Starts a program; nil where the system cannot.
    ///
    /// It takes all signals as a program does that a shell starts, whatever the calling thread
    /// blocks and the calling program ignores.
    ///
    /// - Parameters:
    ///   - arguments: The program's path, and what it is given.
    ///   - environment: `NAME=VALUE`, before what this process has.
    ///   - leadsGroup: Whether it is the first of a process group, all of which ``kill()`` ends.
    public init?(_ arguments: [String], environment: [String] = [], leadsGroup: Bool = false) {
        let started = Self.oneAtATime.withLock { _ in
            Self.start(arguments, environment, leadsGroup)
        }
        guard let started else { return nil }
        process = started.process
        input = started.input
        output = started.output
        self.leadsGroup = leadsGroup
    }

    deinit {
        if !isOver { _ = wait(asking: SIGTERM) }
        close(output)
    }

    /// Tells it that nothing more comes.
    public func closeInput() {
        guard isInputOpen else { return }
        isInputOpen = false
        close(input)
    }

    /// Closes its input and waits for its end.
    ///
    /// - Returns: its exit code; nil where a signal ended it.
    public func wait() -> Int32? { wait(asking: nil) }

    /// Ends it, and whatever it started in its group, and waits for its end.
    public func kill() { _ = wait(asking: SIGKILL) }

    private func wait(asking signal: Int32?) -> Int32? {
        guard !isOver else { return nil }
        isOver = true
        closeInput()
        if let signal {
            if leadsGroup { Glibc.kill(-process, signal) }
            Glibc.kill(process, signal)
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }

    /// Everything that it writes until it closes its output, at most `limit` bytes.
    public func readAll(limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < limit {
            let got = read(output, &block, block.count)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { break }
            bytes += block[..<got]
        }
        return bytes
    }
}

// MARK: Starting

extension ChildProcess {
    /// Between its making and the flag that closes it, a pipe would be inherited by a program that
    /// another thread starts, and then has no end before that one's.
    private static let oneAtATime = Mutex(())

    private static func start(
        _ arguments: [String], _ environment: [String], _ leadsGroup: Bool
    ) -> (process: pid_t, input: Int32, output: Int32)? {
        guard let path = arguments.first, let down = Pipe() else { return nil }
        guard let up = Pipe() else {
            down.close()
            return nil
        }
        let process = spawn(
            path, arguments, environment, leadsGroup, input: down.read, output: up.write)
        guard let process else {
            down.close()
            up.close()
            return nil
        }
        Glibc.close(down.read)
        Glibc.close(up.write)
        return (process, down.write, up.read)
    }

    /// Both ends are closed on execution.
    private struct Pipe {
        let read: Int32
        let write: Int32

        init?() {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { return nil }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (read, write) = (ends[0], ends[1])
        }

        func close() {
            Glibc.close(read)
            Glibc.close(write)
        }
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ environment: [String], _ leadsGroup: Bool,
        input: Int32, output: Int32
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(
                POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
                    | (leadsGroup ? POSIX_SPAWN_SETPGROUP : 0)))
        var words = list(arguments)
        defer { for word in words { free(word) } }
        var variables = list(environment + ownEnvironment())
        defer { for variable in variables { free(variable) } }
        var process: pid_t = 0
        guard posix_spawn(&process, path, &actions, &attributes, &words, &variables) == 0 else {
            return nil
        }
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
