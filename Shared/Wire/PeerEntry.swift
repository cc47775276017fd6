/// What is known of an admitted peer.
public struct PeerEntry: Equatable, Sendable {
    /// For people; nothing is decided by it.
    public var name: String
    public var key: PeerKey
    public var role: Role
    /// The owners that the peer may speak for.
    public var owners: OwnerSet
    /// Whether the peer may reset, wipe and remove.
    public var mayDestroy: Bool

    public init(name: String, key: PeerKey, role: Role, owners: OwnerSet, mayDestroy: Bool) {
        self.name = name
        self.key = key
        self.role = role
        self.owners = owners
        self.mayDestroy = mayDestroy
    }
}

/// Owners that a peer may speak for: all, or those listed.
public enum OwnerSet: TextIdentifier {
    case all
    case some(Set<Owner>)

    /// Reads `*`, or owners with a comma between each two.
    public init?(_ text: String) {
        if text == "*" {
            self = .all
            return
        }
        var owners: Set<Owner> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let owner = Owner(String(part)), owners.insert(owner).inserted else {
                return nil
            }
        }
        self = .some(owners)
    }

    public var text: String {
        switch self {
        case .all: "*"
        case .some(let owners): owners.map(\.text).sorted().joined(separator: ",")
        }
    }

    public func admits(_ owner: Owner) -> Bool {
        switch self {
        case .all: true
        case .some(let owners): owners.contains(owner)
        }
    }
}
