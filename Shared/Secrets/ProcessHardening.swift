internal import CLinux
internal import Glibc

/// What every process that holds secrets gives up before it reads the first one.
public enum ProcessHardening {
    /// No core file, no attaching debugger of the same user, and files for the owner alone.
    ///
    /// None of the three can be refused by a kernel that Coffer runs on; if one is, the process
    /// ends.
    public static func apply() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        precondition(setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0)
        precondition(coffer_clear_dumpable() == 0)
        umask(0o077)
    }
}
