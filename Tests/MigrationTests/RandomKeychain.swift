import MigrationCore
import TestKit

/// A keychain made up at random, as its items stand: what the decoders would hand over.
struct RandomKeychain {
    /// Every account of the service, in no order; nil where they cannot be enumerated.
    var accounts: [String]?
    /// What the items of list accounts hold; nil where one is damaged or cannot be read.
    var lists: [String: [String]?] = [:]
    /// Wallets that were taken in before.
    var ledger: Set<String> = []
    /// Wallets whose phrase is missing or wrong, or that the vault refuses.
    var refused: Set<String> = []

    private static let chains = [
        "b67a40f", "2cbcf83", "261d8d7", "20e2564", "35cb853", "6f1e522", "ab786b4", "2e3df23",
        "B67A40F", "b67a40", "b67a40f0", "",
    ]
    private static let strangers = [
        "pin", "USES_AUTHENTICATION", "WALLET_CREATION_TIME_KEY_0", "DP_EPK_WBL_0_44_5",
        "wallet_mnemonic_key_0", "VERIFIED_WALLET_CREATION_TIME_0", "WALLET_MNEMONIC_KEY",
    ]

    init(_ random: SeededRandom) {
        let wallets = (0..<random.number(in: 0...5)).map { _ in Self.id(random) }
        var accounts = wallets.map { "WALLET_MNEMONIC_KEY_\($0)" }
        for chain in Self.someChains(random) {
            let account = "CHAIN_WALLETS_KEY_\(chain)"
            accounts.append(account)
            lists[account] = .some(Self.list(naming: wallets, random))
        }
        accounts += Self.strangers.filter { _ in random.chance(percent: 15) }
        var generator = random
        self.accounts = accounts.shuffled(using: &generator)
        if random.chance(percent: 3) { self.accounts = nil }
        ledger = Set(wallets.filter { _ in random.chance(percent: 20) })
        if random.chance(percent: 10) { ledger.insert(Self.id(random)) }
        refused = Set(wallets.filter { _ in random.chance(percent: 15) })
    }

    /// Few enough that lists and accounts often meet.
    private static func id(_ random: SeededRandom) -> String {
        random.chance(percent: 2) ? "" : String(random.number(in: 1...40), radix: 16)
    }

    private static func someChains(_ random: SeededRandom) -> [String] {
        switch random.number(in: 1...10) {
        case 1: []
        case 2, 3: ["b67a40f"]
        case 4, 5: ["b67a40f", "2cbcf83"]
        case 6: [random.pick(chains[2...]) ?? ""]
        default: chains.filter { _ in random.chance(percent: 25) }
        }
    }

    /// A list that names some of the wallets, a stranger now and then; damaged one time in six.
    private static func list(naming wallets: [String], _ random: SeededRandom) -> [String]? {
        guard !random.chance(percent: 17) else { return nil }
        let share = random.pick([0, 30, 60, 100]) ?? 0
        var names = wallets.filter { _ in random.chance(percent: share) }
        if random.chance(percent: 20) { names.append(id(random)) }
        if random.chance(percent: 5), let first = names.first { names.append(first) }
        return names
    }
}
