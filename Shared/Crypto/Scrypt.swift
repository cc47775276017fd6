internal import COpenSSL
public import Secrets

/// scrypt (RFC 7914): a key from a passphrase, at a cost in memory that a guesser pays for each
/// guess.
public enum Scrypt {
    /// What a derivation costs.
    public struct Cost: Equatable, Sendable {
        /// N, a power of two above one.
        public let rounds: UInt64
        /// r, in units of 128 bytes.
        public let blockSize: UInt64
        /// p.
        public let lanes: UInt64

        public init(rounds: UInt64, blockSize: UInt64, lanes: UInt64) {
            self.rounds = rounds
            self.blockSize = blockSize
            self.lanes = lanes
        }

        /// The memory that one derivation takes, in bytes.
        public var memoryBytes: UInt64 { 128 * blockSize * (rounds + lanes + 2) }
    }

    /// The most memory that a derivation may take here, in bytes.
    public static let memoryBytesMax: UInt64 = 1 << 30

    /// Derives `count` bytes.
    ///
    /// Throws `invalidParameters` for a cost that is none or beyond ``memoryBytesMax``, and
    /// `failed` where the machine lacks the memory.
    public static func key(
        passphrase: borrowing SecretBytes, salt: [UInt8], cost: Cost, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard count > 0, cost.rounds > 1, cost.rounds & (cost.rounds - 1) == 0,
            cost.rounds <= memoryBytesMax, 1...1_024 ~= cost.blockSize, 1...1_024 ~= cost.lanes,
            cost.memoryBytes <= memoryBytesMax
        else { throw .invalidParameters }
        return try SecretBytes(count: count) { result throws(CryptoError) in
            let derived = passphrase.withBytes { passphrase in
                EVP_PBE_scrypt(
                    passphrase.baseAddress?.assumingMemoryBound(to: CChar.self), passphrase.count,
                    salt, salt.count, cost.rounds, cost.blockSize, cost.lanes,
                    cost.memoryBytes, result.octets, result.count) == 1
            }
            ERR_clear_error()
            guard derived else { throw .failed }
        }
    }
}
