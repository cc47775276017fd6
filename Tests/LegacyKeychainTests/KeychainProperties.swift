import LegacyKeychain
import PropertyLists
import Secrets
import TestKit
import Testing

@Suite("Any bytes of a keychain give rows or an error")
struct KeychainProperties {
    static let file = LegacyKeychainFile([
        .init(account: "WALLET_MNEMONIC_KEY_1", value: Array("abandon abandon about".utf8)),
        .init(service: "ü", account: "a & b", group: "g", value: []),
        .init(account: "CHAIN_WALLETS_KEY_b67a40f", value: LegacyKeychainFile.archive(of: ["1"])),
    ])

    @Test("after random changes", arguments: FileForm.allCases, 0..<4)
    func changed(_ form: FileForm, _ seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        let bytes = form.bytes(of: Self.file)
        var whole = 0
        var damaged = 0
        for _ in 0..<500 {
            let counts = try rows(in: Mutation.changed(bytes, random))
            whole += counts.whole
            damaged += counts.damaged
        }
        #expect(whole > 0 && damaged > 0)
    }

    /// Rows are numbered in their order, and a whole row's value can be read.
    private func rows(in bytes: [UInt8]) throws -> (whole: Int, damaged: Int) {
        var counts = (whole: 0, damaged: 0)
        do throws(KeychainError) {
            let source = try KeychainSource(bytes)
            let rows = try source.rows()
            while let row = try rows.next() {
                let number = counts.whole + counts.damaged
                switch row {
                case .item(let item):
                    counts.whole += 1
                    #expect(item.index == number)
                    let value = try source.value(at: item.value)
                    #expect(value.count <= item.value.length)
                case .damaged(let item):
                    counts.damaged += 1
                    #expect(item.index == number)
                }
            }
        } catch {
            #expect(error != .noValue)
        }
        return counts
    }
}
