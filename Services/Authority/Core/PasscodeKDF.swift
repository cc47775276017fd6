internal import Crypto
internal import Glibc
public import Loop
public import Secrets

/// The slow step between a passcode and the key that opens its wrapper.
@ServiceLoop
public protocol PasscodeKDF: AnyObject {
    /// PBKDF2-HMAC-SHA256, 32 bytes; the caller is suspended, not blocked.
    func derive(password: SharedSecret, salt: [UInt8], iterations: Int) async -> SharedSecret
}

/// Derives on a few threads of its own.
@ServiceLoop
public final class PooledKDF: PasscodeKDF {
    /// As many threads as the machine has processors, two at the most: each derivation takes one
    /// for a third of a second.
    public nonisolated static var defaultThreads: Int {
        max(1, min(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }

    private let pool: WorkerPool

    public init(threads: Int = defaultThreads) { pool = WorkerPool(width: threads) }

    public func derive(
        password: SharedSecret, salt: [UInt8], iterations: Int
    ) async -> SharedSecret {
        await pool.run {
            do throws(CryptoError) {
                return SharedSecret(
                    try PBKDF2.sha256(
                        password: password.bytes, salt: salt, iterations: iterations,
                        count: PasscodeWrapper.keyBytes))
            } catch {
                preconditionFailure("a key derivation was asked for with no iterations")
            }
        }
    }
}
