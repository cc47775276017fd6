import Loop

/// How a credential stands.
struct CredentialState: Hashable {
    var passcode: String?
    var protection = false
    /// The token that opens it too.
    var route: String?
    /// Which access key it is; each reset, removal and import has another one.
    var key: Int
    /// Whether there may be no record yet.
    var isBlank = false
}

/// All the ways in which a credential may stand for what its owner was told.
///
/// Of a change whose outcome is not known, both are possible, in every order with the others; what
/// is told or seen later takes away those that do not fit.
@ServiceLoop
final class CredentialBeliefs {
    /// What a change makes of a credential; nil where it cannot be made.
    typealias Effect = (CredentialState) -> CredentialState?

    private struct Way: Hashable {
        var state: CredentialState
        /// The open changes that were made in it.
        var made: Set<Int> = []
    }

    private var ways: Set<Way>
    private var open: [Int: Effect] = [:]
    private var lastChange = 0
    private var lastKey = 0
    /// What each access key derives, where that was seen.
    private var derived: [Int: [UInt8]] = [:]
    /// Raised by whatever may change the credential, so that an answer can be judged.
    private(set) var version = 0

    init() { ways = [Way(state: CredentialState(key: 0, isBlank: true))] }

    /// In an order that repeats.
    var states: [CredentialState] {
        Set(ways.map(\.state)).sorted { Self.order($0) < Self.order($1) }
    }

    private static func order(_ state: CredentialState) -> String {
        "\(state.passcode ?? "") \(state.protection) \(state.route ?? "") \(state.key) "
            + "\(state.isBlank)"
    }

    var openCount: Int { open.count }

    /// A mark for ``isSettled(since:)``.
    ///
    /// - Returns: nil while a change is under way.
    var mark: Int? { open.isEmpty ? version : nil }

    /// Whether nothing could have changed since.
    func isSettled(since mark: Int?) -> Bool { mark == version && open.isEmpty }

    // MARK: Changes

    /// A change begins.
    ///
    /// - Returns: its number.
    func begin(_ effect: @escaping Effect) -> Int {
        version += 1
        lastChange += 1
        open[lastChange] = effect
        close()
        return lastChange
    }

    /// It is told what became of a change.
    ///
    /// - Returns: false where that cannot be.
    func end(_ change: Int, made: Bool) -> Bool {
        version += 1
        open[change] = nil
        let left = ways.filter { $0.made.contains(change) == made }
        guard !left.isEmpty else { return false }
        ways = Set(left.map { Way(state: $0.state, made: $0.made.subtracting([change])) })
        return true
    }

    /// Something beside the changes may have happened.
    func consider(_ effect: Effect) {
        version += 1
        for way in ways {
            guard let state = effect(way.state) else { continue }
            ways.insert(Way(state: state, made: way.made))
        }
        close()
    }

    private func close() {
        var frontier = ways
        while let way = frontier.popFirst() {
            for (change, effect) in open where !way.made.contains(change) {
                guard let state = effect(way.state) else { continue }
                let next = Way(state: state, made: way.made.union([change]))
                if ways.insert(next).inserted { frontier.insert(next) }
            }
        }
    }

    // MARK: What is seen

    /// Keeps the ways that fit what was seen while nothing changed.
    ///
    /// - Returns: false where none fits.
    func see(_ fits: (CredentialState) -> Bool) -> Bool {
        let left = ways.filter { fits($0.state) }
        guard !left.isEmpty else { return false }
        ways = left
        return true
    }

    /// Another access key.
    func newKey(deriving bytes: [UInt8]? = nil) -> Int {
        lastKey += 1
        derived[lastKey] = bytes
        return lastKey
    }

    /// A key was derived while nothing changed.
    ///
    /// - Returns: false where it comes from no access key that the owner can have.
    func see(derived bytes: [UInt8]) -> Bool {
        let known = derived.first { $0.value == bytes }?.key
        let fits = see { state in
            if let known { return state.key == known }
            return derived[state.key] == nil
        }
        guard fits else { return false }
        ways = Set(
            ways.map { way in
                var way = way
                way.state.isBlank = false
                return way
            })
        let keys = Set(states.map(\.key))
        if known == nil, keys.count == 1, let key = keys.first { derived[key] = bytes }
        return true
    }
}
