internal import AuthorityClient
internal import AuthorityMessages
internal import Clocks
internal import Crypto
internal import HDKeys
internal import Secrets
internal import Serving
internal import VaultMessages
internal import Wire

/// How wallets sign.
extension VaultService {
    /// Signs with a key of a wallet; opens the seed's envelope and compares the identity.
    func sign(_ call: Call<SignWithWallet>) async throws -> Answer<SignWithWallet> {
        let request = call.request
        let permission = Permission(
            purpose: .sign, namespace: request.namespace, wallet: request.wallet)
        try call.require(permission)
        // What can never be signed must not cost a proof.
        guard let message = call.attachments.first,
            admits(message.bytes.count, request.scheme)
        else { throw VaultFault.invalidMessage }
        let record = try find(request.wallet, in: request.namespace, of: call.owner)
        let path = try SigningPath(request.path, for: request.scheme, of: record.family)

        let lease = try await link.lease(permission, for: call)
        // The wallet may have gone meanwhile.
        guard try find(request.wallet, in: request.namespace, of: call.owner) == record else {
            throw VaultFault.noSuchWallet
        }
        let content = try lease.namespaceKeys().openSeed(
            of: record, document: store.envelope(.seed, of: record))
        let reply = try path.sign(message.bytes, seed: content.seed)
        try call.onlyWhile { [clock] in try lease.check(at: clock.now.nanoseconds) }
        return Answer(reply)
    }

    private func admits(_ count: Int, _ scheme: SignatureScheme) -> Bool {
        switch scheme {
        case .ed25519: count <= limits.messageBytes
        case .secp256k1: count == Secp256k1.digestByteCount
        }
    }
}

/// A key that a wallet signs with.
struct SigningPath {
    /// Nil where the seed itself is the key's.
    private let path: DerivationPath?
    private let scheme: SignatureScheme

    init(
        _ text: String, for scheme: SignatureScheme, of family: WalletFamily
    ) throws(VaultFault) {
        do throws(HDKeyError) {
            let path = try DerivationPath(text)
            if let sole = family.kind.soleKey {
                guard scheme == sole.scheme, path == (try DerivationPath(sole.path)) else {
                    throw HDKeyError.malformedPath
                }
                self.path = nil
            } else {
                guard scheme != .ed25519 || path.isHardenedThroughout else {
                    throw HDKeyError.notHardened
                }
                self.path = path
            }
        } catch {
            throw .invalidPath
        }
        self.scheme = scheme
    }

    /// The signature by the key.
    func sign(
        _ message: borrowing SecretBytes, seed: borrowing SecretBytes
    ) throws -> SignWithWallet.Reply {
        guard let path else { return try Self.sign(message, keySeed: seed) }
        switch scheme {
        case .ed25519:
            return try Self.sign(
                message, keySeed: SLIP10Ed25519.derive(seed: seed, path: path).privateKey)
        case .secp256k1:
            let key: ExtendedPrivateKey
            do throws(HDKeyError) {
                key = try BIP32.derive(seed: seed, path: path)
            } catch {
                // One path in 2^127 has no key (BIP-32).
                throw VaultFault.invalidPath
            }
            let digest = message.withBytes { Array($0) }
            let signature = try Secp256k1.sign(digest: digest, key: key.privateKey)
            return SignWithWallet.Reply(
                signature: signature.compact, publicKey: try key.publicKey(),
                recovery: Int(signature.recoveryID))
        }
    }

    /// By the Ed25519 key of a seed (RFC 8032).
    private static func sign(
        _ message: borrowing SecretBytes, keySeed: borrowing SecretBytes
    ) throws -> SignWithWallet.Reply {
        let key = try Ed25519SigningKey(seed: keySeed)
        return SignWithWallet.Reply(
            signature: message.withBytes { key.sign($0) }, publicKey: key.publicKey,
            recovery: nil)
    }
}
