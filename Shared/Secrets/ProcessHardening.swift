internal import CLinux
internal import Glibc

/// What every process that holds secrets gives up before it reads the first one.
public enum ProcessHardening {
    /// The signals of a crash, for which the Swift runtime may have a handler.
    static let crashSignals = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

    /// No core file, no attaching debugger of the same user, no report of a crash, and files for
    /// the owner alone.
    ///
    /// Where the toolchain is installed, the Swift runtime writes registers, and memory that they
    /// point to, on standard error when a program crashes, and so into the log. None of this can be
    /// refused by a kernel that Coffer runs on; if something is, the process ends.
    public static func apply() {
        for number in crashSignals { signal(number, SIG_DFL) }
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        precondition(setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0)
        precondition(coffer_clear_dumpable() == 0)
        umask(0o077)
    }

    /// Has the kernel end this process with the one that started it.
    ///
    /// - Parameter parent: the number of that one.
    /// - Returns: false where it has ended already.
    public static func endsWith(parent: Int32) -> Bool {
        precondition(coffer_die_with_parent() == 0)
        return getppid() == parent
    }

    /// Closes every descriptor but the standard three: what a program was started with and did not
    /// ask for.
    public static func closeInherited() {
        precondition(coffer_close_from(UInt32(STDERR_FILENO) + 1) == 0)
    }
}
