import Clocks
import Glibc
import Loop
import MigrationMessages
import PropertyLists
import TestKit
import Testing
import Wire

@testable import MigrationCore

/// Sources that no app made: they are refused before they cost more than their size is worth, and
/// keep nobody else waiting.
@Suite(.timeLimit(.minutes(2))) struct HostileSourceRules {
    private static let phrase = "WALLET_MNEMONIC_KEY_aa"
    private static let list = "CHAIN_WALLETS_KEY_b67a40f"

    private func trouble(with bytes: [UInt8]) throws -> ReadingTrouble? {
        let folder = try TemporaryFolder(inMemory: true)
        let path = folder.path(of: "keychain")
        TestFile.write(bytes, to: path)
        let file = try FileSource(path: path)
        do throws(ReadingTrouble) {
            _ = try SourceReading.index(file)
            return nil
        } catch {
            return error
        }
    }

    private static let large = [UInt8](repeating: 0x61, count: 600_000)

    @Test func moreReferencesToOneValueThanAnAppHasWalletsAreTooLarge() throws {
        let count = SourceReader.phraseRowsMax + 1
        let phrases = SharedRows.list([
            .init(account: Self.phrase, value: Self.large, count: count)
        ])
        #expect(try trouble(with: phrases) == .fault(.sourceTooLarge))
        // A hundred lead to one place.
        let folder = try TemporaryFolder(inMemory: true)
        let path = folder.path(of: "keychain")
        TestFile.write(
            SharedRows.list([.init(account: Self.phrase, value: Self.large, count: 100)]),
            to: path)
        let index = try SourceReading.index(FileSource(path: path))
        #expect(index.wallets.count == 1)
        #expect(index.phrases(at: 0).count == 1)
    }

    @Test func manyReferencesToOneListAreTooLarge() throws {
        // By their bytes, and by their number.
        for (value, count) in [(Self.large, 200), ([1], ListReader.rowsMax + 1)] {
            let lists = SharedRows.list([.init(account: Self.list, value: value, count: count)])
            #expect(try trouble(with: lists) == .fault(.sourceTooLarge))
        }
        let two = SharedRows.list([.init(account: Self.list, value: Self.large, count: 2)])
        #expect(try trouble(with: two) == nil)
    }

    @Test func aRowOfManyKeysManyTimesIsTooLarge() throws {
        let keys = (0..<120).map { (key: "key\($0)", value: SharedRows.Value.text("value")) }
        let rows = SharedRows.list([
            .init([(key: "svce", value: .text("other"))] + keys, count: 1_000)
        ])
        #expect(try trouble(with: rows) == .fault(.sourceTooLarge))
    }

    @Test func oneLongIDManyTimesIsTooLarge() throws {
        let account = "WALLET_MNEMONIC_KEY_" + String(repeating: "a", count: 1_000)
        let rows = SharedRows.list([.init(account: account, value: [1], count: 9_000)])
        #expect(try trouble(with: rows) == .fault(.sourceTooLarge))
    }

    @Test func anAccountWithTooManyPhrasesIsTooLarge() throws {
        for (count, isRefused) in [(64, false), (65, true)] {
            var keychain = TestKeychain()
            for number in 0..<count { keychain.add(Self.phrase, [UInt8(number)]) }
            for format in TestKeychain.Format.allCases {
                let found = try trouble(with: keychain.bytes(format))
                #expect(found == (isRefused ? .fault(.sourceTooLarge) : nil))
            }
        }
    }

    @Test func aLargeValueThatIsNoPhraseIsNotRead() async throws {
        let archive = LegacyKeychainFile.archive(of: ["aa"])
        let bytes = SharedRows.list([
            .init(account: Self.phrase, value: Self.large, count: 100),
            .init(account: Self.list, value: archive, count: 1),
        ])
        try await LoopHarness.run {
            let rig = try Rig()
            TestFile.write(bytes, to: rig.path.text)
            let progress = try await rig.apply()
            #expect(progress.failures == [.init(id: "aa", problem: .phraseInvalid)])
        }
    }

    @Test func itIsToldAndHoldsTheLaunch() async throws {
        let bytes = SharedRows.list([.init(account: Self.list, value: [1], count: 300)])
        try await LoopHarness.run {
            let rig = try Rig()
            TestFile.write(bytes, to: rig.path.text)
            #expect(
                try await rig.refusal(PlanMigration(source: rig.path))
                    == "migration.source_too_large")
            #expect(
                try await rig.refusal(rig.applying(), token: rig.token())
                    == "migration.source_too_large")
            #expect(try await rig.launch() == .unreadable)
        }
    }

    // MARK: Whoever else wants something

    /// Lines that are no rows, and that take a while.
    private static let slow = Array(String(repeating: "{}\n", count: 20_000).utf8)

    @Test func anotherOwnersSourceIsReadMeanwhile() async throws {
        let keychain = TestKeychain()
        try await LoopHarness.run {
            // With one thread only slices let anybody pass.
            let rig = try Rig(threads: 1)
            TestFile.write(Self.slow, to: rig.path.text)
            let other = try #require(SourcePath(rig.folder.path(of: "other")))
            TestFile.write(keychain.bytes(), to: other.text)
            let isRead = Flag(false)
            ServiceLoop.start {
                _ = try? await rig.service.shelf.open(rig.path, for: rig.owner, until: .max)
                isRead.value = true
            }
            try await rig.pass { rig.service.shelf.isReading(of: rig.owner) }
            _ = try await rig.ask(PlanMigration(source: other), owner: rig.other)
            #expect(!isRead.value)
            try await rig.pass { isRead.value }
            #expect(rig.service.shelf.readings == 2)
        }
    }

    @Test func aReadingEndsWhereNobodyWaitsForItAnyLonger() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            TestFile.write(Self.slow, to: rig.path.text)
            let code = Flag("")
            let deadline = rig.clock.now.nanoseconds + 3_000_000
            ServiceLoop.start {
                do {
                    _ = try await rig.service.shelf.open(
                        rig.path, for: rig.owner, until: deadline)
                } catch {
                    code.value = (error as? any Fault)?.refusal.code ?? "\(error)"
                }
            }
            try await rig.pass { !code.value.isEmpty }
            #expect(code.value == "bus.overdue")
            #expect(rig.service.shelf.readings == 0)
            // Whoever comes later is served.
            rig.lay(TestKeychain())
            #expect(try await rig.plan().wallets.isEmpty)
        }
    }

    /// One row can be as long as the file.
    @Test func aReadingEndsInTheMiddleOfARow() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let path = folder.path(of: "keychain")
        let long = String(repeating: "<true/>", count: 300_000)
        let text =
            "<plist version=\"1.0\"><dict><key>genp</key><array><array>\(long)</array></array>"
            + "</dict></plist>"
        TestFile.write(Array(text.utf8), to: path)
        let clock = TickingClock()
        let file = try FileSource(path: path)
        let reading = try SourceReading(file, ReadingLeave(clock: clock, deadline: 200))
        #expect(throws: ReadingTrouble.abandoned) {
            while try reading.advance() == nil {}
        }
        #expect(clock.lookCount < 300)
    }

    @Test func whatWaitsForItsTurnTooLongIsNotRead() async throws {
        try await LoopHarness.run {
            let rig = try Rig()
            rig.lay(TestKeychain())
            do {
                _ = try await rig.service.shelf.open(
                    rig.path, for: rig.owner, until: rig.clock.now.nanoseconds)
                Issue.record("it was opened")
            } catch BusFault.overdue {}
            #expect(rig.service.shelf.readings == 0)
        }
    }
}
