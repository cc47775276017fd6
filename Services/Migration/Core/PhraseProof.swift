internal import HDKeys
internal import LegacyKeychain
internal import MigrationMessages
public import Mnemonics
public import Secrets
internal import VaultMessages

/// Makes the seed of a normalized phrase.
public typealias PhraseStretching =
    @Sendable (_ phrase: borrowing SecretBytes) throws(MnemonicError) -> SecretBytes

/// A wallet's phrase, proven to be of the wallet that its account names.
struct ProvenPhrase: Sendable {
    /// In its one form.
    let phrase: SharedSecret
    /// The id that the phrase leads to and the account names, 1 to 16 hexadecimal digits.
    let legacyID: String
    /// The wallet's 32-byte SDK id on the network that its list names.
    let sdkID: [UInt8]
}

/// Reads phrases from a source and proves them.
struct PhraseProver: Sendable {
    /// A longer value is no phrase, in bytes.
    static let phraseBytesMax = 4_096

    enum Finding: Sendable {
        case proven(ProvenPhrase)
        case problem(WalletProblem)
        /// The source cannot be relied on any longer.
        case fault(MigrationFault)
    }

    let source: OpenSource
    let network: DashNetwork
    let stretch: PhraseStretching

    init(_ source: OpenSource, network: WalletNetwork, stretch: @escaping PhraseStretching) {
        self.source = source
        self.network = network == .mainnet ? .mainnet : .testnet
        self.stretch = stretch
    }

    /// Reads the phrase of the wallet at a place and compares it with its account.
    ///
    /// Where the account stands several times in the source, the phrase that is of the wallet is
    /// taken, and of several problems the last one is told.
    func find(at place: Int) -> Finding {
        var problem = WalletProblem.phraseMissing
        do throws(MigrationFault) {
            let id = source.index.wallets.id(at: place)
            for location in source.index.phrases(at: place) {
                do throws(Flaw) {
                    return .proven(try prove(read(location), is: id))
                } catch {
                    switch error {
                    case .problem(let found): problem = found
                    case .fault(let fault): throw fault
                    }
                }
            }
            try source.checkUnchanged()
            return .problem(problem)
        } catch {
            return .fault(error)
        }
    }

    private enum Flaw: Error {
        case problem(WalletProblem)
        case fault(MigrationFault)
    }

    private func read(_ location: ValueLocation) throws(Flaw) -> SecretBytes {
        // Many wallets of a property list can share one large value.
        guard location.encoding != .raw || location.length <= Self.phraseBytesMax else {
            throw .problem(.phraseInvalid)
        }
        let value: SecretBytes
        do throws(KeychainError) { value = try source.keychain.value(at: location) } catch {
            throw error == .noValue ? .problem(.phraseMissing) : .fault(MigrationFault(error))
        }
        do throws(MigrationFault) { try source.checkUnchanged() } catch { throw .fault(error) }
        guard value.count > 0 else { throw .problem(.phraseMissing) }
        guard value.count <= Self.phraseBytesMax else { throw .problem(.phraseInvalid) }
        return value
    }

    /// Validates a phrase, derives its seed twice, and its ids.
    private func prove(
        _ value: borrowing SecretBytes, is id: LegacyID
    ) throws(Flaw) -> ProvenPhrase {
        do {
            let phrase = try Mnemonic.normalize(value)
            try Mnemonic.validate(phrase)
            let seed = try stretch(phrase)
            guard try stretch(phrase).isEqual(to: seed) else {
                throw Flaw.problem(.derivationsDiffer)
            }
            guard try DashWalletID.dashSync(seed: seed, network: network) == id.text else {
                throw Flaw.problem(.otherWallet)
            }
            let sdkID = try DashWalletID.sdk(seed: seed, network: network)
            return ProvenPhrase(
                phrase: SharedSecret(phrase), legacyID: id.text, sdkID: sdkID)
        } catch let flaw as Flaw {
            throw flaw
        } catch {
            throw .problem(.phraseInvalid)
        }
    }
}
