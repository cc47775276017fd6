internal import CKeyutils
internal import Glibc
public import Secrets

/// Short-lived secrets in the kernel's memory, shared by all terminals of one user.
///
/// A secret is a `user` key in the user keyring. The kernel itself forgets it when its time is up,
/// at logout of the last session, and at shutdown; it is never swapped to a file of ours and never
/// falls back to disk. Processes of the same user may find and read it, nobody else.
/// See keyrings(7), user-keyring(7) and keyctl(2).
public enum KernelKeyring {
    /// Whether this process may use the user keyring at all.
    public static var isAvailable: Bool {
        keyctl_get_keyring_ID(KEY_SPEC_USER_KEYRING, 0) > 0
    }

    /// Keeps a secret under a name for at most `timeoutSeconds`; an earlier one of that name goes.
    ///
    /// The key is made in the calling thread's own keyring, gets its permissions and its timeout
    /// there, and only then appears in the user keyring: no failure or kill leaves a key without a
    /// timeout behind. A timeout of zero would mean "for ever" to the kernel and is refused, as are
    /// an empty secret and a name that is empty or holds a zero byte (`EINVAL`).
    public static func store(
        _ value: borrowing SecretBytes, name: String, timeoutSeconds: UInt32
    ) throws(KeyringError) {
        guard timeoutSeconds > 0, isName(name) else { throw .failed(errno: EINVAL) }
        let key = value.withBytes { bytes in
            add_key(keyType, name, bytes.baseAddress, bytes.count, KEY_SPEC_THREAD_KEYRING)
        }
        guard key > 0 else { throw refusal(errno) }
        defer { _ = keyctl_unlink(key, KEY_SPEC_THREAD_KEYRING) }
        do throws(KeyringError) {
            try check(keyctl_setperm(key, permissions))
            try check(keyctl_set_timeout(key, timeoutSeconds))
            try check(keyctl_link(key, KEY_SPEC_USER_KEYRING))
        } catch {
            _ = keyctl_revoke(key)
            throw error
        }
    }

    /// The secret kept under a name; nil if there is none, or its time is up.
    public static func read(name: String) throws(KeyringError) -> SecretBytes? {
        guard let key = try find(name) else { return nil }
        // The size differs between asking and reading only if the key was replaced in between.
        for _ in 0..<readAttemptLimit {
            let size = keyctl_read(key, nil, 0)
            guard size >= 0 else {
                if isAbsence(errno) { return nil }
                throw refusal(errno)
            }
            var value = SecretBytes(count: size)
            let read = value.withMutableBytes { buffer in
                keyctl_read(
                    key, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count)
            }
            if read == size { return value }
        }
        throw .failed(errno: EAGAIN)
    }

    /// Forgets the secret kept under a name; no error if there is none.
    public static func remove(name: String) throws(KeyringError) {
        guard let key = try find(name) else { return }
        if keyctl_invalidate(key) < 0 && !isAbsence(errno) { throw refusal(errno) }
    }

    private static func find(_ name: String) throws(KeyringError) -> key_serial_t? {
        guard isName(name) else { throw .failed(errno: EINVAL) }
        let key = keyctl_search(KEY_SPEC_USER_KEYRING, keyType, name, 0)
        if key > 0 { return key_serial_t(key) }
        if isAbsence(errno) { return nil }
        throw refusal(errno)
    }

    private static func check(_ result: Int) throws(KeyringError) {
        if result < 0 { throw refusal(errno) }
    }

    private static func isAbsence(_ code: Int32) -> Bool {
        code == ENOKEY || code == EKEYEXPIRED || code == EKEYREVOKED
    }

    private static func refusal(_ code: Int32) -> KeyringError {
        switch code {
        case EPERM, EACCES, ENOSYS: .forbidden
        case EDQUOT: .quota
        default: .failed(errno: code)
        }
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains(0)
    }

    private static let keyType = "user"
    private static let readAttemptLimit = 4

    /// The owner's processes may find, read and drop the key, whether or not their session keyring
    /// leads to the user keyring; only the process that makes it may set its timeout; group and
    /// others may nothing.
    private static let permissions = key_perm_t(
        KEY_POS_VIEW | KEY_POS_READ | KEY_POS_SEARCH | KEY_POS_LINK | KEY_POS_SETATTR
            | KEY_POS_WRITE | KEY_USR_VIEW | KEY_USR_READ | KEY_USR_SEARCH)
}
