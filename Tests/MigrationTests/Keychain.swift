import Glibc
import TestKit
import VaultMessages

/// A legacy keychain that a test lays in a file.
struct Keychain {
    enum Format: CaseIterable {
        case binary
        case xml
        case lines
    }

    /// A wallet that a list names.
    struct Wallet {
        let phrase: LegacyPhrase
        let id: String
        let network: WalletNetwork
    }

    var rows: [LegacyKeychainFile.Row] = []
    private(set) var wallets: [Wallet] = []
    private var lists: [String: [String]] = [:]

    /// A keychain of the legacy app as it was used: other items lie there too.
    init() {
        add("pin", Array("1234".utf8))
        add("USES_AUTHENTICATION", [1, 0, 0, 0, 0, 0, 0, 0])
        rows.append(
            LegacyKeychainFile.Row(
                service: "org.example.other", account: "WALLET_MNEMONIC_KEY_f00d",
                value: Array("not ours".utf8)))
    }

    mutating func add(_ account: String, _ value: [UInt8]) {
        rows.append(LegacyKeychainFile.Row(account: account, value: value))
    }

    /// Adds wallets that a network's list names.
    mutating func addListed(
        _ count: Int, on network: WalletNetwork = .mainnet, _ random: SeededRandom
    ) throws {
        let genesis = network == .mainnet ? "b67a40f" : "2cbcf83"
        for _ in 0..<count {
            let phrase = try LegacyPhrase(random)
            let id = try phrase.legacyID(network)
            add("WALLET_MNEMONIC_KEY_\(id)", Array(phrase.text.utf8))
            lists[genesis, default: []].append(id)
            wallets.append(Wallet(phrase: phrase, id: id, network: network))
        }
        wallets.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    }

    /// Names ids on a chain's list, which is made where there is none.
    mutating func list(_ ids: [String], on genesis: String) {
        lists[genesis, default: []] += ids
    }

    /// The rows with those of the lists.
    var file: LegacyKeychainFile {
        let listRows = lists.sorted { $0.key < $1.key }.map { genesis, ids in
            LegacyKeychainFile.Row(
                account: "CHAIN_WALLETS_KEY_\(genesis)",
                value: LegacyKeychainFile.archive(of: ids))
        }
        return LegacyKeychainFile(rows + listRows)
    }

    func bytes(_ format: Format = .binary) -> [UInt8] {
        switch format {
        case .binary: file.binary()
        case .xml: file.xml()
        case .lines: file.jsonLines()
        }
    }
}

func write(_ bytes: [UInt8], to path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    precondition(descriptor >= 0, "a file of a test cannot be made")
    defer { close(descriptor) }
    precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
}

func contents(of path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    precondition(descriptor >= 0, "a file of a test cannot be read")
    defer { close(descriptor) }
    var status = stat()
    fstat(descriptor, &status)
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes[..<max(0, count)])
}
