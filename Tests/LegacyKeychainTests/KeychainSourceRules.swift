import LegacyKeychain
import PropertyLists
import Secrets
import TestKit
import Testing

/// A row read, with its value.
struct ReadRow: Equatable {
    let service: String
    let account: String
    let group: String
    let value: [UInt8]
}

extension KeychainSource {
    init(_ bytes: [UInt8]) throws(KeychainError) { try self.init(MemorySource(copying: bytes)) }

    func all() throws(KeychainError) -> [KeychainRow] {
        let rows = try rows()
        var all: [KeychainRow] = []
        while let row = try rows.next() { all.append(row) }
        return all
    }

    /// Values of whole rows; a damaged one is an issue.
    func readAll() throws -> [ReadRow] {
        try all().compactMap { row in
            guard case .item(let item) = row else {
                Issue.record("\(row)")
                return nil
            }
            return ReadRow(
                service: item.service, account: item.account, group: item.group,
                value: try value(at: item.value).withBytes { Array($0) })
        }
    }
}

@Suite("A legacy keychain")
struct KeychainSourceRules {
    static let rows: [LegacyKeychainFile.Row] = [
        .init(account: "WALLET_MNEMONIC_KEY_f78c9465937f02a9", value: Array("abandon about".utf8)),
        .init(
            account: "CHAIN_WALLETS_KEY_b67a40f", group: "ABCDE.org.dashfoundation.dash",
            value: LegacyKeychainFile.archive(of: ["f78c9465937f02a9"])),
        .init(service: "other", account: "ü <&> \u{1F511}", value: []),
        .init(service: "", account: "", value: [UInt8](repeating: 7, count: 20_000)),
    ]

    @Test(
        "gives the same rows in each format",
        arguments: [
            (LegacyKeychainFile(rows).binary(), KeychainSource.Format.binaryPropertyList),
            (LegacyKeychainFile(rows).xml(), .xmlPropertyList),
            (LegacyKeychainFile(rows).jsonLines(), .jsonLines),
        ])
    func formats(_ bytes: [UInt8], _ format: KeychainSource.Format) throws {
        let source = try KeychainSource(bytes)
        #expect(source.format == format)
        let read = try source.readAll()
        #expect(
            read
                == Self.rows.map {
                    ReadRow(
                        service: $0.service, account: $0.account, group: $0.group, value: $0.value)
                })
        #expect(try source.all().indices.map { $0 } == [0, 1, 2, 3])
    }
}
