internal import BackupShares
internal import SharesMessages
internal import VaultMessages
internal import Wire

/// What is to be done with a phrase, by the wallet that it was found to be of.
enum IdentityVerdict: Equatable {
    case install
    /// Nobody named this wallet: the person has to.
    case askPerson
    /// It is not the wallet that it should be.
    case refuse

    /// - Parameters:
    ///   - wallet: derived from the phrase itself.
    ///   - stated: what the share files say; nil for the envelopes of other programs.
    ///   - known: what a confirmed manifest of this home says of the split.
    ///   - expected: the identity that the client wants.
    init(
        of wallet: SharedWallet, stated: ShareFacts.Wallet?, known: ShareFacts.Wallet?,
        expected: [UInt8]?
    ) {
        // Files that name another wallet than their phrase is of were not made by any split.
        let claims = [stated, known].compactMap { $0 }
        guard claims.allSatisfy({ $0 == ShareFacts.Wallet(wallet) }) else {
            self = .refuse
            return
        }
        if let expected {
            self = expected == wallet.identity ? .install : .refuse
        } else {
            self = known == nil ? .askPerson : .install
        }
    }
}

extension ShareFacts.Wallet {
    /// A wallet as it stands in share files.
    init(_ wallet: SharedWallet) {
        self.init(
            kind: wallet.kind.text, network: wallet.network?.text, identity: wallet.identity,
            words: wallet.words)
    }
}

extension ShareFacts {
    /// What the three files of a split say, as its manifest has it.
    init(_ manifest: Manifest) {
        self.init(
            id: manifest.split.bytes, wallet: Wallet(manifest.wallet), made: manifest.made,
            digests: manifest.shares.map(\.digest))
    }
}
