import Foundation
import MigrationCore
import MigrationMessages
import TestKit
import Testing

/// The code against the document's table, over keychains made up at random.
@Suite struct RandomKeychains {
    @Test func tenThousandRandomKeychainsAreTreatedAsTheDocumentSays() {
        var comparison = Comparison(DocumentTable())
        comparison.run(keychains: 10_000, seed: 1)
        #expect(comparison.disagreements.isEmpty)
        for (name, hits) in comparison.hits {
            #expect(hits >= 100, "the generator hardly reaches: \(name)")
        }
        report(comparison)
    }

    @Test func aTableWithAnyRowChangedDisagrees() {
        let table = DocumentTable()
        #expect(table.walletRows.count + table.runRows.count <= 12)
        for index in table.walletRows.indices {
            let right = table.walletRows[index].reason
            for wrong in ClassReason.allCases where wrong != right {
                var changed = table
                changed.walletRows[index].reason = wrong
                expectDisagreement(changed, "\(table.walletRows[index].name): \(wrong)")
            }
        }
        for index in table.runRows.indices {
            let name = table.runRows[index].name
            for wrong in Self.findings[index] {
                var changed = table
                changed.runRows[index].broken = wrong
                expectDisagreement(changed, "\(name): \(wrong)")
            }
        }
    }

    @Test func aTableWithAnyRowOfAWalletLeftOutDisagrees() {
        let table = DocumentTable()
        // The last one is what is left where no other fits.
        for index in table.walletRows.indices.dropLast() {
            var changed = table
            changed.walletRows.remove(at: index)
            expectDisagreement(changed, "without: \(table.walletRows[index].name)")
        }
    }

    @Test func aTableWithTwoRowsOfAWalletSwappedDisagreesWhereTheirOrderMatters() {
        // A ledger before any list, a supported chain before an unsupported one, any readable list
        // before an unreadable one.
        for (first, second) in [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (3, 5)] {
            var changed = DocumentTable()
            changed.walletRows.swapAt(first, second)
            expectDisagreement(changed, "rows \(first) and \(second) swapped")
        }
    }

    private static let findings: [[DocumentTable.Finding]] = [
        [.done(true), .done(false)],
        [.deferredUnknownChain(true), .deferredUnknownChain(false)],
        [.deferredFailure(true), .deferredFailure(false)],
        [.launch(.absent), .launch(.pending)],
        [.launch(.absent), .launch(.pending), .launch(.unreadable)],
    ]

    private func expectDisagreement(_ table: DocumentTable, _ what: String) {
        var comparison = Comparison(table)
        comparison.run(keychains: 10_000, seed: 1, untilFirstDisagreement: true)
        #expect(!comparison.disagreements.isEmpty, "nobody noticed: \(what)")
    }

    private func report(_ comparison: Comparison) {
        var text = "migration: \(comparison.keychains) random keychains\n"
        for (name, hits) in comparison.hits { text += "  \(hits) x \(name)\n" }
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}

/// Runs keychains through the code and through a table.
private struct Comparison {
    let table: DocumentTable
    private(set) var keychains = 0
    private(set) var disagreements: [String] = []
    /// Hits of each row, in the order of the table.
    private(set) var hits: [(name: String, hits: Int)]

    init(_ table: DocumentTable) {
        self.table = table
        hits = (table.walletRows.map(\.name) + table.runRows.map(\.name)).map { ($0, 0) }
    }

    mutating func run(keychains count: Int, seed: UInt64, untilFirstDisagreement: Bool = false) {
        let random = SeededRandom(seed: seed)
        for number in 0..<count {
            let keychain = RandomKeychain(random)
            keychains += 1
            let ours = Outcome(byCode: keychain)
            let theirs = outcome(byTable: keychain)
            if ours != theirs { disagreements.append("keychain \(number): \(ours), \(theirs)") }
            if untilFirstDisagreement && !disagreements.isEmpty { return }
        }
    }

    private mutating func outcome(byTable keychain: RandomKeychain) -> Outcome {
        var outcome = Outcome()
        var isAnyRefused = false
        let prefix = "WALLET_MNEMONIC_KEY_"
        for account in keychain.accounts ?? [] where account.hasPrefix(prefix) {
            let id = String(account.dropFirst(prefix.count))
            let facts = keychain.facts(of: id)
            for (row, entry) in table.walletRows.enumerated() where entry.fits(facts) {
                if outcome.classes[id] == nil { hits[row].hits += 1 }
                outcome.classes[id] = entry.reason
                break
            }
            guard outcome.classes[id]?.walletClass == .listed else { continue }
            if keychain.refused.contains(id) { isAnyRefused = true }
            outcome.imports.insert(id)
        }
        let facts = DocumentTable.RunFacts(
            canBeEnumerated: keychain.accounts != nil, classes: Array(outcome.classes.values),
            someImportFails: isAnyRefused)
        for (row, entry) in table.runRows.enumerated() {
            guard let finding = entry.finding(facts) else { continue }
            hits[table.walletRows.count + row].hits += 1
            outcome.findings.insert(finding)
        }
        return outcome
    }
}

/// What becomes of a keychain.
private struct Outcome: Equatable {
    var classes: [String: ClassReason] = [:]
    var imports: Set<String> = []
    var findings: Set<DocumentTable.Finding> = []

    init() {}

    init(byCode keychain: RandomKeychain) {
        guard let accounts = keychain.accounts else {
            findings = [
                .done(RunVerdict.unreadable.done),
                .deferredUnknownChain(RunVerdict.unreadable.deferredUnknownChain),
                .launch(.unreadable),
            ]
            return
        }
        let wallets = LegacyWallets(accounts: accounts) { keychain.lists[$0] ?? nil }
        var tally = RunTally(wallets)
        for id in keychain.ledger { tally.settle(LegacyID(id)) }
        for place in 0..<wallets.count {
            classes[wallets.id(at: place).text] = tally.reason(at: place)
        }
        findings.insert(.launch(tally.launch))
        for place in tally.work() {
            let id = wallets.id(at: place).text
            imports.insert(id)
            if keychain.refused.contains(id) {
                tally.fail(at: place)
            } else {
                tally.settle(at: place)
            }
        }
        findings.insert(.done(tally.verdict.done))
        findings.insert(.deferredUnknownChain(tally.verdict.deferredUnknownChain))
        findings.insert(.deferredFailure(tally.verdict.deferredFailure))
    }
}

extension RandomKeychain {
    fileprivate func facts(of wallet: String) -> DocumentTable.WalletFacts {
        func isNamed(_ chains: (String) -> Bool) -> Bool {
            lists.contains { account, names in
                chains(String(account.dropFirst("CHAIN_WALLETS_KEY_".count)))
                    && names?.contains(wallet) ?? false
            }
        }
        return DocumentTable.WalletFacts(
            isInLedger: ledger.contains(wallet),
            isNamedByReadableMainnet: isNamed { $0 == "b67a40f" },
            isNamedByReadableTestnet: isNamed { $0 == "2cbcf83" },
            isNamedByReadableOther: isNamed { $0 != "b67a40f" && $0 != "2cbcf83" },
            thereAreLists: !lists.isEmpty, someListIsUnreadable: lists.values.contains(nil))
    }
}
