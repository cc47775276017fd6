internal import BackupShares
internal import Secrets
internal import SharesMessages
internal import VaultMessages
internal import Wire

/// What three files lead to.
enum RestoredPhrase {
    /// A phrase, which still has to be looked at.
    case phrase(Found)
    /// No phrase: some files cannot be used.
    case unusable([RestoreWallet.Reply.Unusable])

    /// A phrase, and what is said of it.
    struct Found: Sendable {
        let phrase: SharedSecret
        let kind: WalletKind
        let network: WalletNetwork?
        /// What the share files say; nil for the envelopes of other programs.
        let stated: ShareFacts.Wallet?
        /// What a confirmed manifest of this home says of the split.
        let known: ShareFacts.Wallet?
    }

    /// Looks at three files together.
    ///
    /// Throws ``SharesFault/unfitShares`` where each can be read and they make no phrase,
    /// ``SharesFault/kindNeeded``, or ``SharesFault/unexpectedIdentity`` where the request names
    /// another kind of wallet than the files.
    init(
        _ shares: [ReadShare], request: RestoreWallet, known: [[UInt8]: ShareFacts]
    ) throws(SharesFault) {
        let problems = ShareExamination.problems(of: shares, known: known)
        let unusable = problems.enumerated().compactMap { index, problem in
            problem.map { problem in
                RestoreWallet.Reply.Unusable(
                    file: index, holder: shares[index].holder, problem: problem)
            }
        }
        guard unusable.isEmpty else {
            self = .unusable(unusable)
            return
        }
        let facts = shares.first?.facts
        let (kind, network) = try Self.kind(stated: facts?.wallet, request)
        self = .phrase(
            Found(
                phrase: try Self.phrase(of: shares.compactMap(\.payload)), kind: kind,
                network: network, stated: facts?.wallet,
                known: facts.flatMap { known[$0.id]?.wallet }))
    }

    private static func kind(
        stated: ShareFacts.Wallet?, _ request: RestoreWallet
    ) throws(SharesFault) -> (WalletKind, WalletNetwork?) {
        guard let stated else {
            guard let kind = request.walletKind else { throw .kindNeeded }
            return (kind, request.network)
        }
        let network = stated.network.flatMap { WalletNetwork($0) }
        guard let kind = WalletKind(stated.kind), (stated.network == nil) == (network == nil),
            kind.hasNetwork == (network != nil)
        else { throw .kindNeeded }
        guard request.walletKind == nil || request.walletKind == kind && request.network == network
        else { throw .unexpectedIdentity }
        return (kind, network)
    }

    /// The phrase of any of the three generations of writers.
    private static func phrase(of payloads: [SharedSecret]) throws(SharesFault) -> SharedSecret {
        do throws(ShareError) {
            let text = try ShareSplit.combine(payloads)
            // The first writers did not fill the block up.
            guard text.count == PhraseBlock.byteCount else {
                return SharedSecret(try PhraseBlock.decode(PhraseBlock.encode(text)))
            }
            return SharedSecret(try PhraseBlock.decode(text))
        } catch {
            throw .unfitShares
        }
    }
}
