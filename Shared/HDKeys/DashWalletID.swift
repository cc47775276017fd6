internal import Crypto
public import Secrets

/// What Dash wallets are called, by the BIP-39 seed of their phrase (empty passphrase).
///
/// Both ids differ from network to network. They can be told to anybody who may know of the wallet,
/// and lead back to no key.
public enum DashWalletID {
    /// Bytes of an id of the Swift Dash SDK.
    public static let sdkByteCount = 32

    /// The id that DashSync keeps a wallet under, as it writes it.
    ///
    /// The first eight bytes of SHA-256 over the genesis hash and the master public key, read as a
    /// number with the least significant byte first, in lower-case hex digits **without leading
    /// zeros**: 1 to 16 of them.
    public static func dashSync(
        seed: borrowing SecretBytes, network: DashNetwork
    ) throws(HDKeyError) -> String {
        let publicKey = try BIP32.masterPublicKey(seed: seed)
        let digest = SHA256.digest(network.genesisHash + publicKey)
        let number = digest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return String(number, radix: 16)
    }

    /// The 32-byte id that the Swift Dash SDK keeps a wallet under (key-wallet).
    ///
    /// SHA-256 over the master public key, its chain code, the letter `N` and a byte for the
    /// network. SDKs before 2026 left the last two away, so that a wallet had one id on all
    /// networks; that one is not made here.
    public static func sdk(
        seed: borrowing SecretBytes, network: DashNetwork
    ) throws(HDKeyError) -> [UInt8] {
        let master = try BIP32.master(seed: seed)
        let head = try master.publicKey()
        let mark = [UInt8(ascii: "N"), network.mark]
        let chainCodeCount = master.chainCode.count
        // With its public key the chain code shows every address, so it stays in secret memory.
        let preimage = SecretBytes(count: head.count + chainCodeCount + mark.count) { target in
            target.copyBytes(from: head)
            master.chainCode.withBytes { put($0, at: head.count, in: target) }
            mark.withUnsafeBytes { put($0, at: head.count + chainCodeCount, in: target) }
        }
        return SHA256.digest(of: preimage).withBytes { Array($0) }
    }
}
