public import Loop

/// Does slow work with phrases away from the loop: the thousands of rounds between phrase and seed.
@ServiceLoop
public protocol PhraseStretcher: AnyObject {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T
}

/// Works on the pool's threads.
///
/// A BIP-39 phrase takes some two milliseconds and a TON mnemonic a tenth of a second. On the loop
/// that would be the time of a hundred requests and more, a peer with its fill of requests would
/// hold up everybody, and leases, which last a quarter of a second, would run out in the queue.
@ServiceLoop
public final class PooledStretcher: PhraseStretcher {
    private let pool: WorkerPool

    public init(pool: WorkerPool) { self.pool = pool }

    public func run<T: Sendable>(_ work: @escaping @Sendable () -> T) async -> T {
        await pool.run(work)
    }
}
