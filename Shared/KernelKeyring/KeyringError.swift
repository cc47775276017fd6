/// Why the kernel's keyring did not do what it was asked.
public enum KeyringError: Error, Equatable, Sendable {
    /// The kernel or a container's filter refuses keyrings to this process.
    /// Go on without a kept session; nothing is ever written elsewhere in its place.
    case forbidden
    /// This user's share of key memory is used up.
    case quota
    /// Anything else, with the kernel's error number.
    case failed(errno: Int32)
}
