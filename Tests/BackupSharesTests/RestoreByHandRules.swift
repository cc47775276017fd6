import Foundation
import Secrets
import Testing

@testable import BackupShares

/// A program in another language, which shares no code with this one, restores from the files
/// alone.
@Suite(.enabled(if: Python.hasCryptography, "needs python3 with the package cryptography"))
struct RestoreByHandRules {
    @Test(arguments: [Phrases.about, Phrases.longest, "été forêt"])
    func threeFilesAndTheirKeysGiveThePhrase(_ phrase: String) throws {
        let folder = try ShareFolder(Split(phrase))
        defer { folder.remove() }
        let run = try Python.restore(folder.arguments())
        #expect(run.output == phrase + "\n")
        #expect(run.status == 0)
    }

    @Test func theOrderOfTheSharesDoesNotMatter() throws {
        let folder = try ShareFolder(Split(Phrases.yellow))
        defer { folder.remove() }
        let run = try Python.restore(folder.arguments(order: [2, 0, 1]))
        #expect(run.output == Phrases.yellow + "\n")
    }

    /// A bit of the sign of the ephemeral key, of its value, of the identity, and of the last
    /// block.
    @Test(arguments: [255, 3, 256 + 40, 288 * 8 - 1])
    func aDamagedFileIsNamed(_ bit: Int) throws {
        let folder = try ShareFolder(Split())
        defer { folder.remove() }
        try folder.change(share: 1) { $0[bit / 8] ^= 1 << UInt8(bit % 8) }
        let run = try Python.restore(folder.arguments())
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.complaint.contains("1.share"))
    }

    @Test func aFileCutShortIsNamed() throws {
        let folder = try ShareFolder(Split())
        defer { folder.remove() }
        try folder.change(share: 2) { $0.removeLast() }
        let run = try Python.restore(folder.arguments())
        #expect(run.status == 1)
        #expect(run.complaint.contains("2.share"))
    }

    @Test func aKeyOfAnotherHolderIsRefused() throws {
        let folder = try ShareFolder(Split())
        defer { folder.remove() }
        let run = try Python.restore(folder.arguments(keys: [0, 2, 1]))
        #expect(run.status == 1)
        #expect(run.complaint.contains("1.share"))
    }

    @Test func aShareOfAnotherSplitIsRefused() throws {
        let folder = try ShareFolder(Split(seed: 1))
        defer { folder.remove() }
        let other = try Split(seed: 2)
        try folder.change(share: 0) { $0 = other.envelopes[0].bytes }
        let run = try Python.restore(folder.arguments())
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
    }

    // MARK: Share files

    @Test func threeShareFilesGiveThePhraseAndTellOfTheWallet() throws {
        let folder = try ShareFolder(files: SplitFiles(Phrases.longest))
        defer { folder.remove() }
        let run = try Python.restore(folder.arguments(order: [1, 2, 0]))
        #expect(run.output == Phrases.longest + "\n")
        let identity = String(repeating: "ab", count: 32)
        #expect(run.complaint.contains("kind dash (mainnet), identity \(identity), 12 words"))
    }

    @Test func everyChangedBitOfAShareFileIsRefusedInThatLanguageToo() throws {
        let folder = try ShareFolder(files: SplitFiles())
        defer { folder.remove() }
        let arguments = folder.arguments()
        let run = try Python.evaluate(
            """
            seed, document = restore.read_key(sys.argv[1]), restore.read(sys.argv[2])
            payload, members = restore.open_document(seed, document)
            assert len(payload) == 220 and members["holder"] == "anna"
            refused = 0
            for bit in range(len(document) * 8):
                changed = bytearray(document)
                changed[bit // 8] ^= 1 << bit % 8
                try:
                    restore.open_document(seed, bytes(changed))
                except restore.Refused:
                    refused += 1
            print(refused - len(document) * 8)
            """, [arguments[0], arguments[1]])
        #expect(run.output == "0\n", "\(run.complaint)")
    }

    @Test func aShareThatIsWholeAndWrongIsNamedWithItsHolder() throws {
        let split = try SplitFiles()
        let folder = try ShareFolder(files: split)
        defer { folder.remove() }
        let payload = try split.files[1].payload(privateKey: split.holders[1].privateKey.bytes)
        let forged = try ShareFile(
            sealing: payload.bytes, under: split.files[0].head, random: KernelRandom())
        try folder.change(share: 0) { $0 = forged.bytes }
        let run = try Python.restore(folder.arguments())
        #expect(run.status == 1)
        #expect(run.complaint.contains("0.share") && run.complaint.contains("holder anna"))
        #expect(run.output.isEmpty)
    }

    @Test func aShareFileOfAnotherSplitIsRefused() throws {
        let folder = try ShareFolder(files: SplitFiles())
        defer { folder.remove() }
        let other = try SplitFiles(id: [UInt8](50..<66))
        try folder.change(share: 2) { $0 = other.files[2].bytes }
        let run = try Python.restore(folder.arguments())
        #expect(run.status == 1)
        #expect(run.complaint.contains("2.share: of another split than the two others"))
        #expect(!run.complaint.contains("0.share") && !run.complaint.contains("1.share"))
        #expect(run.output.isEmpty)
    }

    @Test func whereNoTwoAgreeEachIsNamedWithWhatItSays() throws {
        let folder = try ShareFolder(files: SplitFiles())
        defer { folder.remove() }
        for (share, id) in [(0, [UInt8](30..<46)), (1, [UInt8](50..<66))] {
            let other = try SplitFiles(id: id)
            try folder.change(share: share) { $0 = other.files[share].bytes }
        }
        let run = try Python.restore(folder.arguments())
        #expect(run.status == 1)
        #expect(run.complaint.contains("0.share says \"1e1f20"))
        #expect(run.complaint.contains("1.share says \"323334"))
        #expect(run.complaint.contains("2.share says"))
    }

    @Test func theSameShareTwiceIsNamed() throws {
        let folder = try ShareFolder(files: SplitFiles())
        defer { folder.remove() }
        let run = try Python.restore(folder.arguments(order: [0, 1, 1]))
        #expect(run.status == 1)
        #expect(!run.complaint.contains("0.share"))
        #expect(run.complaint.contains("1.share are the same share"))
    }
}

/// Three holders' keys and shares as files.
private struct ShareFolder {
    private let url: URL

    init(files split: SplitFiles) throws {
        try self.init(split.holders, split.files.map(\.bytes))
    }

    init(_ split: Split) throws { try self.init(split.holders, split.envelopes.map(\.bytes)) }

    private init(_ holders: [KeyPair], _ shares: [[UInt8]]) throws {
        url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for index in 0..<3 {
            try Data(shares[index]).write(to: share(index))
            let seed = holders[index].privateKey.bytes.array
            try Data(Self.pem(seed).utf8).write(to: key(index))
        }
    }

    func remove() { try? FileManager.default.removeItem(at: url) }

    func change(share index: Int, _ body: (inout [UInt8]) -> Void) throws {
        var bytes = Array(try Data(contentsOf: share(index)))
        body(&bytes)
        try Data(bytes).write(to: share(index))
    }

    func arguments(order: [Int] = [0, 1, 2], keys: [Int]? = nil) -> [String] {
        zip(keys ?? order, order).flatMap { [key($0).path, share($1).path] }
    }

    private func share(_ index: Int) -> URL { url.appending(path: "\(index).share") }
    private func key(_ index: Int) -> URL { url.appending(path: "\(index).pem") }

    /// PKCS #8 of an Ed25519 key (RFC 8410 §7).
    private static func pem(_ seed: [UInt8]) -> String {
        let document = Data(bytes("302e020100300506032b657004220420") + seed)
        return """
            -----BEGIN PRIVATE KEY-----
            \(document.base64EncodedString())
            -----END PRIVATE KEY-----

            """
    }
}

private enum Python {
    struct Run {
        let status: Int32
        let output: String
        let complaint: String
    }

    static let hasCryptography = (try? run(["-c", "import cryptography"]))?.status == 0

    static func restore(_ arguments: [String]) throws -> Run {
        try run([folder.appending(path: "restore.py").path] + arguments)
    }

    /// Runs lines that use the script as a module.
    static func evaluate(_ lines: String, _ arguments: [String]) throws -> Run {
        let head = "import sys; sys.path.insert(0, '\(folder.path)'); import restore\n"
        return try run(["-B", "-c", head + lines] + arguments)
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Services/Coffer/Core/Holding")

    private static func run(_ arguments: [String]) throws -> Run {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        let output = Pipe()
        let complaint = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = complaint
        try process.run()
        let written = try output.fileHandleForReading.readToEnd() ?? Data()
        let complained = try complaint.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Run(
            status: process.terminationStatus, output: String(decoding: written, as: UTF8.self),
            complaint: String(decoding: complained, as: UTF8.self))
    }
}
