/// What the kernel granted to the memory that secrets live in.
public enum SecretMemory {
    /// True once the kernel refused to lock a chunk into RAM (`RLIMIT_MEMLOCK`).
    ///
    /// Secrets may then reach a swap device: a warning for the host to log, not a failure.
    public static var lockingRefused: Bool { Arena.shared.refusals.locking }

    /// True once the kernel refused to leave a chunk out of core dumps or out of forked children.
    public static var adviceRefused: Bool { Arena.shared.refusals.advice }
}
