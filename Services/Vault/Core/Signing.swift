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
        let path = try SigningPath(request.path, for: request.scheme)
        guard let message = call.attachments.first,
            admits(message.bytes.count, request.scheme)
        else { throw VaultFault.invalidMessage }
        _ = try find(request.wallet, in: request.namespace, of: call.owner)

        let lease = try await link.lease(permission, for: call)
        let record = try find(request.wallet, in: request.namespace, of: call.owner)
        let seed = try lease.namespaceKeys().openSeed(
            of: record, document: store.envelope(.seed, of: record))
        let reply = try path.sign(message.bytes, seed: seed)
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

/// A derivation path that a scheme takes.
struct SigningPath {
    private let path: DerivationPath
    private let scheme: SignatureScheme

    init(_ text: String, for scheme: SignatureScheme) throws(VaultFault) {
        do throws(HDKeyError) {
            path = try DerivationPath(text)
        } catch {
            throw .invalidPath
        }
        guard scheme != .ed25519 || path.isHardenedThroughout else { throw .invalidPath }
        self.scheme = scheme
    }

    /// The signature by the key at the end of the path.
    func sign(
        _ message: borrowing SecretBytes, seed: borrowing SecretBytes
    ) throws -> SignWithWallet.Reply {
        switch scheme {
        case .ed25519:
            let node = try SLIP10Ed25519.derive(seed: seed, path: path)
            let key = try Ed25519SigningKey(seed: node.privateKey)
            return SignWithWallet.Reply(
                signature: message.withBytes { key.sign($0) }, publicKey: key.publicKey,
                recovery: nil)
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
}
