internal import Glibc

/// Another program, run with pipes for its input and output.
final class ChildProcess {
    /// Where to write what it reads.
    let input: Int32
    /// Where to read what it writes.
    let output: Int32

    /// Its number.
    let process: pid_t

    private var isOver = false

    /// Starts a program; nil where the system cannot.
    ///
    /// Standard error is shared. No descriptor but the three is open in it, as long as the others
    /// are closed on execution, which all of ours are.
    init?(_ arguments: [String]) {
        guard let path = arguments.first, let down = Self.pipe() else { return nil }
        guard let up = Self.pipe() else {
            close(down.read)
            close(down.write)
            return nil
        }
        defer {
            close(down.read)
            close(up.write)
        }
        let started = Self.spawn(path, arguments, input: down.read, output: up.write)
        guard let started else {
            close(down.write)
            close(up.read)
            return nil
        }
        process = started
        input = down.write
        output = up.read
    }

    deinit {
        if !isOver { _ = wait(killing: true) }
        close(output)
    }

    /// Closes its input and waits for its end.
    ///
    /// - Returns: its exit code; nil where a signal ended it.
    func wait(killing: Bool = false) -> Int32? {
        guard !isOver else { return nil }
        isOver = true
        close(input)
        if killing { kill(process, SIGTERM) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }

    /// Everything that it writes until it closes its output, at most `limit` bytes.
    func readAll(limit: Int) -> [UInt8] {
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

    private static func pipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func spawn(
        _ path: String, _ arguments: [String], input: Int32, output: Int32
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The command ignores SIGPIPE; its helpers must not.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process: pid_t = 0
        guard posix_spawn(&process, path, &actions, &attributes, &words, environ) == 0 else {
            return nil
        }
        return process
    }
}
