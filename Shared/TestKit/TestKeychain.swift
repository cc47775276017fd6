internal import Glibc
public import HDKeys

/// A legacy keychain that a test puts together, with other items beside those of wallets.
public struct TestKeychain: Sendable {
    public enum Format: CaseIterable, Sendable {
        case binary
        case xml
        case lines
    }

    /// A wallet that a list names.
    public struct Wallet: Sendable {
        public let phrase: LegacyPhrase
        public let id: String
        public let sdkID: [UInt8]
        public let network: DashNetwork
    }

    private var rows: [LegacyKeychainFile.Row] = []
    private var lists: [String: [String]] = [:]
    /// In the order of their ids.
    public private(set) var wallets: [Wallet] = []

    public init() {
        add("pin", Array("1234".utf8))
        add("USES_AUTHENTICATION", [1, 0, 0, 0, 0, 0, 0, 0])
        rows.append(
            LegacyKeychainFile.Row(
                service: "org.example.other", account: "WALLET_MNEMONIC_KEY_f00d",
                value: Array("not ours".utf8)))
    }

    /// Adds an item of the legacy app.
    public mutating func add(_ account: String, _ value: [UInt8]) {
        rows.append(LegacyKeychainFile.Row(account: account, value: value))
    }

    /// Adds the account of a wallet.
    public mutating func add(wallet id: String, _ phrase: String) {
        add("WALLET_MNEMONIC_KEY_\(id)", Array(phrase.utf8))
    }

    /// Adds new wallets that a network's list names.
    public mutating func addListed(
        _ count: Int, on network: DashNetwork = .mainnet, _ random: SeededRandom
    ) throws {
        for _ in 0..<count {
            let phrase = try LegacyPhrase(random)
            let ids = try phrase.ids(network)
            add(wallet: ids.legacy, phrase.text)
            list([ids.legacy], on: network == .mainnet ? "b67a40f" : "2cbcf83")
            wallets.append(
                Wallet(phrase: phrase, id: ids.legacy, sdkID: ids.sdk, network: network))
        }
        wallets.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    /// Names ids on a chain's list, which is made where there is none.
    public mutating func list(_ ids: [String], on genesis: String) {
        lists[genesis, default: []] += ids
    }

    /// The SDK ids of the wallets that a list names, sorted.
    public func identities(_ network: DashNetwork? = nil) -> [[UInt8]] {
        wallets.filter { network == nil || $0.network == network }.map(\.sdkID)
            .sorted { $0.lexicographicallyPrecedes($1) }
    }

    public func bytes(_ format: Format = .binary) -> [UInt8] {
        let listRows = lists.sorted { $0.key < $1.key }.map { genesis, ids in
            LegacyKeychainFile.Row(
                account: "CHAIN_WALLETS_KEY_\(genesis)",
                value: LegacyKeychainFile.archive(of: ids))
        }
        let file = LegacyKeychainFile(rows + listRows)
        return switch format {
        case .binary: file.binary()
        case .xml: file.xml()
        case .lines: file.jsonLines()
        }
    }
}

/// Small files of a test; what does not work is a mistake of the test.
public enum TestFile {
    public static func write(_ bytes: [UInt8], to path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        precondition(descriptor >= 0, "a file of a test cannot be made")
        defer { close(descriptor) }
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            precondition(count > 0, "a file of a test cannot be written")
            done += count
        }
    }

    public static func contents(of path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        precondition(descriptor >= 0, "a file of a test cannot be read")
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &piece, piece.count)
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }
}
