import Glibc
import LegacyKeychain
import MigrationMessages
import PropertyLists
import Secrets
import TestKit
import Testing

@testable import MigrationCore

@Suite struct SourceRules {
    private func index(_ keychain: TestKeychain, _ format: TestKeychain.Format = .binary) throws
        -> SourceIndex
    {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "keychain")
        TestFile.write(keychain.bytes(format), to: path)
        return try SourceReading.index(FileSource(path: path))
    }

    @Test func aListThatStandsTwiceCountsWhereBothSayTheSame() throws {
        var keychain = TestKeychain()
        keychain.add("WALLET_MNEMONIC_KEY_aa", [1])
        keychain.list(["aa"], on: "b67a40f")
        keychain.add("CHAIN_WALLETS_KEY_b67a40f", LegacyKeychainFile.archive(of: ["aa"]))
        #expect(try index(keychain).wallets.reason(at: 0) == .listedMainnet)
        keychain.add("CHAIN_WALLETS_KEY_b67a40f", LegacyKeychainFile.archive(of: []))
        #expect(try index(keychain).wallets.reason(at: 0) == .unreadableList)
    }

    @Test func anAccountThatStandsTwiceIsOneWalletWithTwoPlaces() throws {
        var keychain = TestKeychain()
        for id in ["cc", "aa", "bb", "aa"] {
            keychain.add("WALLET_MNEMONIC_KEY_\(id)", Array(id.utf8))
        }
        for format in TestKeychain.Format.allCases {
            let index = try index(keychain, format)
            #expect(
                (0..<index.wallets.count).map { index.wallets.id(at: $0).text } == [
                    "aa", "bb", "cc",
                ])
            #expect((0..<3).map { index.phrases(at: $0).count } == [2, 1, 1])
        }
    }

    @Test func phrasesAreFoundWhereTheyLie() throws {
        var keychain = TestKeychain()
        for id in ["b", "a", "c"] {
            keychain.add("WALLET_MNEMONIC_KEY_\(id)", Array("phrase of \(id)".utf8))
        }
        let folder = try TemporaryFolder()
        let path = folder.path(of: "keychain")
        for format in TestKeychain.Format.allCases {
            TestFile.write(keychain.bytes(format), to: path)
            let file = try FileSource(path: path)
            let index = try SourceReading.index(file)
            let source = try KeychainSource(file)
            for place in 0..<3 {
                let location = try #require(index.phrases(at: place).first)
                let text = try source.value(at: location).withBytes {
                    String(decoding: $0, as: UTF8.self)
                }
                #expect(text == "phrase of \(index.wallets.id(at: place).text)")
            }
        }
    }

    @Test func aWalletWhoseValueCannotBeReadIsAWalletAllTheSame() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "keychain")
        let line = """
            {"service":"org.dashfoundation.dash","account":"WALLET_MNEMONIC_KEY_aa","value":"%"}

            """
        TestFile.write(Array(line.utf8), to: path)
        let index = try SourceReading.index(FileSource(path: path))
        #expect(index.wallets.count == 1)
        #expect(index.phrases(at: 0).isEmpty)
        #expect(index.wallets.damagedRows == 0)
    }

    @Test func aListWhoseValueCannotBeReadIsUnreadable() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "keychain")
        let lines = """
            {"service":"org.dashfoundation.dash","account":"WALLET_MNEMONIC_KEY_aa","value":""}
            {"service":"org.dashfoundation.dash","account":"CHAIN_WALLETS_KEY_b67a40f","value":"%"}

            """
        TestFile.write(Array(lines.utf8), to: path)
        let index = try SourceReading.index(FileSource(path: path))
        #expect(index.wallets.reason(at: 0) == .unreadableList)
    }

    @Test func damagedRowsOfOtherServicesSayNothing() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "keychain")
        let lines = """
            {"service":"org.example.other","value":""}
            {"service":"org.dashfoundation.dash","account":"pin","value":"%"}

            """
        TestFile.write(Array(lines.utf8), to: path)
        #expect(try SourceReading.index(FileSource(path: path)).wallets.damagedRows == 0)
    }

    @Test func aFileThatIsShorterThanItWasHasChanged() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "keychain")
        TestFile.write(TestKeychain().bytes(), to: path)
        let file = try FileSource(path: path)
        truncate(path, 10)
        #expect(throws: ReadingTrouble.fault(.sourceChanged)) {
            try SourceReading.index(file)
        }
    }

    @Test func whatIsNoOrdinaryFileIsNotOpened() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path(of: "keychain")
        TestFile.write(TestKeychain().bytes(), to: file)
        let link = folder.path(of: "link")
        symlink(file, link)
        let pipe = folder.path(of: "pipe")
        mkfifo(pipe, 0o600)
        try await LoopHarness.run {
            let rig = try Rig()
            for path in [link, pipe, folder.path, "/dev/zero"] {
                let source = try #require(SourcePath(path))
                #expect(
                    try await rig.refusal(PlanMigration(source: source))
                        == "migration.source_unreadable")
            }
        }
    }

    @Test func everyChangeOfAFileChangesItsMark() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "keychain")
        TestFile.write([1, 2, 3], to: path)
        let file = try FileSource(path: path)
        var marks: Set<FileMark> = [try file.currentMark()]
        func changed() throws { #expect(marks.insert(try file.currentMark()).inserted) }
        // Times move with the kernel's tick.
        usleep(20_000)
        TestFile.write([3, 2, 1], to: path)
        try changed()
        usleep(20_000)
        // A modification time that was put back deceives nobody.
        var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        utimensat(AT_FDCWD, path, &times, 0)
        try changed()
        usleep(20_000)
        utimensat(AT_FDCWD, path, &times, 0)
        try changed()
        #expect(!marks.insert(try file.currentMark()).inserted)
        let other = folder.path(of: "other")
        TestFile.write([3, 2, 1], to: other)
        #expect(marks.insert(try FileSource(path: other).currentMark()).inserted)
    }
}
