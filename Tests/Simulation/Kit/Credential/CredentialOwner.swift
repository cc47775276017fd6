import AuthorityMessages
import Loop
import TestKit
import Wire

/// An owner whose credential is changed all the time, and what his devices were told of it.
@ServiceLoop
final class CredentialOwner {
    let owner: Owner
    let namespace: Namespace
    let beliefs = CredentialBeliefs()
    /// What can be taken over from another installation, and the number of its access key.
    private(set) var foreign: (credential: ForeignCredential, key: Int)
    var removal: RemovalUnderWay?
    /// Whether somebody began to use Coffer again while a removal was under way.
    ///
    /// The authority may have ended it by itself, and then that made a new record before the device
    /// that asked for the removal was told of its end.
    private(set) var wasUsedInRemoval = false
    /// Whether something was asked that makes a record, since there was nothing of him anywhere.
    private(set) var wasUsed = false
    /// Whether a wallet was asked for, since there was nothing of him anywhere: an owner without a
    /// passcode, of whom nothing was told, may have it.
    var mayHaveWallets = false
    /// A wallet that was told to be there.
    var wallet: WalletID?
    /// Who keeps his shares.
    private(set) var circle: Circle
    /// Whether the count of tries is damaged.
    var isDamaged = false
    /// Whether the authority's store was lost, and he is not reset yet.
    var isLost = false
    private let random: SeededRandom

    /// A reset or removal that was asked for.
    struct RemovalUnderWay {
        let kind: RemovalKind
        /// Whether nobody authorised it, since nobody knows the owner.
        var isFresh = false
        /// The number of the change.
        let change: Int
        /// The token that it was asked for with.
        let token: [UInt8]
        /// Who asked for it, and goes on.
        let peer: PeerKey
        var id: RemovalID?
        /// Why it did not get on the last time.
        var refusal = ""
    }

    init(seed: UInt64) throws {
        guard let owner = Directory.owner(1), let namespace = Namespace("everybodys") else {
            preconditionFailure("a name of the simulation is well-formed")
        }
        self.owner = owner
        self.namespace = namespace
        random = SeededRandom(seed: seed)
        circle = try Circle()
        foreign = try Self.foreign(beliefs, namespace, random)
    }

    /// Something is about to be asked that makes a record where there is none.
    func use() {
        wasUsed = true
        if removal != nil { wasUsedInRemoval = true }
    }

    /// There is nothing of him anywhere any more.
    func beginAnew() {
        wasUsed = false
        mayHaveWallets = false
    }

    /// Nobody keeps his shares any more.
    func renewCircle() throws { circle = try Circle() }

    /// Nothing can be taken over twice.
    func renewForeign() throws { foreign = try Self.foreign(beliefs, namespace, random) }

    private static func foreign(
        _ beliefs: CredentialBeliefs, _ namespace: Namespace, _ random: SeededRandom
    ) throws -> (ForeignCredential, Int) {
        let credential = try ForeignCredential(
            code: code(random), protection: random.chance(percent: 60), random)
        return (credential, beliefs.newKey(deriving: try credential.key(of: namespace)))
    }

    func newCode() -> String { Self.code(random) }

    private static func code(_ random: SeededRandom) -> String {
        "code-\(random.next() % 1_000_000_007)"
    }
}
