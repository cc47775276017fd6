import Loop
import VaultMessages
import Wire

/// An owner, and what his devices were told: what the services must agree with in the end.
@ServiceLoop
final class Person {
    let number: Int
    let owner: Owner
    /// The same name for every owner, so that what leaks between owners is seen.
    let namespace: Namespace
    /// Where wallets go that are restored from shares, and from shares of the last day.
    let restoredNamespace: Namespace
    let drillNamespace: Namespace
    /// Where each network's legacy wallets go.
    private let networkNamespaces: [WalletNetwork: Namespace]
    /// Nil for an owner who has no legacy wallets.
    let keychain: LegacyHoard?
    /// Nil for an owner who keeps no backup.
    let circle: Circle?
    /// The passcodes that may be the right one; nil is none at all.
    private(set) var possible: Set<String?> = [nil]
    /// Raised by everything that may change the passcode, so that an answer can be judged.
    private(set) var passcodeVersion = 0
    private(set) var isChanging = false
    /// What is believed of his hardware token.
    let route: DeviceRoute
    /// Whether he uses it.
    let hasToken: Bool
    private(set) var wallets: [String: Wallet] = [:]
    private var lastLabel = 0

    /// What is believed of one wallet.
    struct Wallet {
        enum Belief: Equatable {
            case there
            case notThere
            /// A change of it is under way, or nobody knows what became of it.
            case unsure
        }

        var belief = Belief.unsure
        var version = 0
        var id: WalletID?
        /// The phrase as it was shown first.
        var shown: [UInt8]?
    }

    init(number: Int, keychain: LegacyHoard?, circle: Circle?, hasToken: Bool) {
        self.number = number
        self.keychain = keychain
        self.circle = circle
        self.hasToken = hasToken
        route = DeviceRoute(uri: SimulatedTokens.uris[(number - 1) % SimulatedTokens.uris.count])
        guard let owner = Directory.owner(UInt8(number)) else {
            preconditionFailure("a name of the simulation is well-formed")
        }
        self.owner = owner
        namespace = Self.namespace("everybodys")
        restoredNamespace = Self.namespace("restored")
        drillNamespace = Self.namespace("drill")
        networkNamespaces = Dictionary(
            uniqueKeysWithValues: WalletNetwork.allCases.map { network in
                (network, Self.namespace("dash.\(network.text)"))
            })
    }

    private static func namespace(_ text: String) -> Namespace {
        guard let namespace = Namespace(text) else {
            preconditionFailure("a name of the simulation is well-formed")
        }
        return namespace
    }

    /// Where a network's legacy wallets go.
    func namespace(of network: WalletNetwork) -> Namespace {
        networkNamespaces[network] ?? namespace
    }

    /// The one passcode that must be right; nil where it is not known or there is none.
    var certain: String? { possible.count == 1 ? possible.first ?? nil : nil }

    func beginChange(to code: String) {
        isChanging = true
        passcodeVersion += 1
        possible.insert(code)
    }

    /// Takes in whether a change was made; until then no other is begun.
    func endChange(to code: String, made: Bool) {
        isChanging = false
        passcodeVersion += 1
        if made { possible = [code] } else { possible.remove(code) }
    }

    /// A code was found to be the right one.
    func learn(_ code: String) {
        guard !isChanging else { return }
        possible = [code]
    }

    func newLabel() -> String {
        lastLabel += 1
        let label = "wallet \(number)-\(lastLabel)"
        wallets[label] = Wallet()
        return label
    }

    func believe(_ belief: Wallet.Belief, of label: String, id: WalletID? = nil) {
        wallets[label]?.belief = belief
        wallets[label]?.version += 1
        if let id { wallets[label]?.id = id }
    }

    func noteShown(_ phrase: [UInt8], of label: String) { wallets[label]?.shown = phrase }

    /// Labels of wallets that are certainly there and whose id is known.
    var usable: [String] {
        wallets.filter { $0.value.belief == .there && $0.value.id != nil }.keys.sorted()
    }
}
