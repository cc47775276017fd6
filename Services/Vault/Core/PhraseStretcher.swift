public import Loop
public import Mnemonics
public import Secrets

/// Makes the seed of a phrase, 2,048 rounds of HMAC-SHA512 (BIP-39).
@ServiceLoop
public protocol PhraseStretcher: AnyObject {
    /// The 64 bytes that follow from a normalized phrase with no passphrase.
    func seed(of phrase: SharedSecret) async throws(MnemonicError) -> SharedSecret
}

/// Stretches on the pool's threads.
///
/// A phrase takes some two milliseconds. On the loop that would be the time of a hundred requests,
/// a peer with its fill of requests would hold up everybody for an eighth of a second, and leases,
/// which last a quarter, would run out in the queue.
@ServiceLoop
public final class PooledStretcher: PhraseStretcher {
    private let pool: WorkerPool

    public init(pool: WorkerPool) { self.pool = pool }

    public func seed(of phrase: SharedSecret) async throws(MnemonicError) -> SharedSecret {
        try await pool.run { phrase.stretched() }.get()
    }
}

extension SharedSecret {
    /// The seed of the phrase that these bytes are.
    func stretched() -> Result<SharedSecret, MnemonicError> {
        Result { () throws(MnemonicError) in
            SharedSecret(try Mnemonic.seed(of: bytes, passphrase: SecretBytes(count: 0)))
        }
    }
}
