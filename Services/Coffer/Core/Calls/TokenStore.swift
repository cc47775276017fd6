internal import Crypto
internal import Glibc
internal import Home
internal import KernelKeyring
internal import Secrets
internal import Wire

/// The kept sessions of one owner of one installation.
///
/// They live in the keyring only, each for as long as the session lives. Under a name of its own
/// stands the list of the namespaces that have one, so that `lock` finds them all.
struct TokenStore {
    private let keyring: any SessionKeyring
    private let prefix: String

    /// The longest that a session lives, and so the list of them.
    private static let sessionSecondsMax: UInt32 = 300

    init(keyring: any SessionKeyring, home: Home, owner: Owner) {
        self.keyring = keyring
        prefix = "coffer:\(Self.digest(of: home)):\(owner.text)"
    }

    func token(of namespace: Namespace) -> [UInt8]? {
        let kept = (try? keyring.read(name: name(of: namespace))) ?? nil
        return kept?.withBytes { Array($0) }
    }

    /// Keeps a token for as long as its session lives.
    ///
    /// - Returns: whether it is kept; where the keyring is forbidden or full it is not.
    func keep(_ token: [UInt8], of namespace: Namespace, milliseconds: UInt64) -> Bool {
        let seconds = min(UInt32(clamping: milliseconds / 1_000), Self.sessionSecondsMax)
        guard seconds > 0 else { return false }
        do throws(KeyringError) {
            let names = Set(namespaces().map(\.text)).union([namespace.text]).sorted()
            try keyring.store(
                SecretBytes(copying: Array(names.joined(separator: "\n").utf8)), name: prefix,
                timeoutSeconds: Self.sessionSecondsMax)
            try keyring.store(
                SecretBytes(copying: token), name: name(of: namespace), timeoutSeconds: seconds)
            return true
        } catch {
            return false
        }
    }

    func drop(_ namespace: Namespace) { try? keyring.remove(name: name(of: namespace)) }

    /// Drops the sessions of every namespace.
    ///
    /// - Returns: how many there were.
    func dropAll(and namespace: Namespace? = nil) -> Int {
        var all = Set(namespaces())
        if let namespace { all.insert(namespace) }
        let kept = all.filter { token(of: $0) != nil }
        for one in all { drop(one) }
        try? keyring.remove(name: prefix)
        return kept.count
    }

    private func namespaces() -> [Namespace] {
        guard let list = (try? keyring.read(name: prefix)) ?? nil else { return [] }
        return list.withBytes { bytes in
            bytes.split(separator: 0x0A).compactMap {
                Namespace(String(decoding: $0, as: UTF8.self))
            }
        }
    }

    private func name(of namespace: Namespace) -> String { "\(prefix):\(namespace.text)" }

    /// Tells installations apart, however their paths are written.
    private static func digest(of home: Home) -> String {
        let resolved = realpath(home.path, nil)
        defer { free(resolved) }
        let path = resolved.map { String(cString: $0) } ?? home.path
        return Hex.encode(Array(SHA256.digest(Array(path.utf8)).prefix(8)))
    }
}
