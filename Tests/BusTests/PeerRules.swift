import Glibc
import Testing
import Wire

@testable import Bus

@Suite(.timeLimit(.minutes(1)))
struct PeerRules {
    let scratch = Scratch()
    let folder: PeerFolder
    let table: PeerTable

    init() {
        folder = PeerFolder(path: scratch.folder("peers"))
        table = PeerTable(folder: folder)
    }

    private func entry(_ name: String, _ role: Role = .app) throws -> PeerEntry {
        let pair = try #require(CurveKeyPair.generate())
        let owner = try #require(Owner("local"))
        return PeerEntry(
            name: name, key: pair.publicKey, role: role, owners: .some([owner]), mayDestroy: false)
    }

    @Test(arguments: [
        Role.app, .extension, .engine, .operator, .service(.walletVault), .service(.migration),
    ])
    func anEntryReadsBackAsItWasWritten(role: Role) throws {
        var entry = try entry("a", role)
        entry.mayDestroy = true
        try folder.add(entry)
        #expect(table.entry(for: entry.key) == entry)
        #expect(try folder.list().entries == [entry])
    }

    @Test func ownersMayBeAllOrNone() throws {
        var all = try entry("all")
        all.owners = .all
        var none = try entry("none", .operator)
        none.owners = .some([])
        try folder.add(all)
        try folder.add(none)
        #expect(table.entry(for: all.key) == all)
        #expect(table.entry(for: none.key) == none)
    }

    @Test func aRemovedPeerIsUnknownAtTheNextLookUp() throws {
        for round in 0..<50 {
            let entry = try entry("peer\(round)")
            try folder.add(entry)
            #expect(table.entry(for: entry.key) != nil)
            try folder.remove(entry.name)
            #expect(table.entry(for: entry.key) == nil, "round \(round)")
        }
    }

    @Test func aSettledFolderIsNotReadAgain() async throws {
        let entry = try entry("a")
        try folder.add(entry)
        var past = [
            timespec(tv_sec: 1_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 0),
        ]
        utimensat(AT_FDCWD, folder.path, &past, 0)
        // The change time cannot be set back, so the folder settles two seconds after it.
        try await Task.sleep(for: .milliseconds(2_100))
        #expect(table.entry(for: entry.key) == entry)
        let readings = table.readings
        for _ in 0..<100 { #expect(table.entry(for: entry.key) == entry) }
        #expect(table.readings == readings)
        try folder.remove("a")
        #expect(table.entry(for: entry.key) == nil)
    }

    @Test(arguments: [
        "role = \"boss\"", "owners = \"*\"", "role = \"app\"\n    destroy = \"maybe\"",
        "role = \"app\"\n    owners = \"a,,b\"", "role = \"service\"", "role = \"service:x\"",
    ])
    func unknownRightsAdmitNobodyAndHarmNobodyElse(metadata: String) throws {
        let good = try entry("good")
        let bad = try entry("bad")
        try folder.add(good)
        write(
            Array("metadata\n    \(metadata)\ncurve\n    public-key = \"\(bad.key.z85)\"\n".utf8),
            to: "\(folder.path)/bad.key", mode: 0o644)
        #expect(table.entry(for: good.key) == good)
        #expect(table.entry(for: bad.key) == nil)
        #expect(table.problems == [PeerProblem(file: "bad.key", reason: .invalidMetadata)])
    }

    @Test func anEntryThatOthersMayChangeAdmitsNobody() throws {
        let entry = try entry("a")
        try folder.add(entry)
        chmod("\(folder.path)/a.key", 0o666)
        #expect(table.entry(for: entry.key) == nil)
        #expect(table.problems.count == 1)
    }

    @Test func twoEntriesOfOneKeyAreBothRefused() throws {
        let entry = try entry("a")
        try folder.add(entry)
        var copy = entry
        copy.name = "b"
        #expect(throws: PeerFolderError.keyTaken(by: "a")) { try folder.add(copy) }
        link("\(folder.path)/a.key", "\(folder.path)/b.key")
        #expect(table.entry(for: entry.key) == nil)
        #expect(table.problems.map(\.reason) == [.sharedKey, .sharedKey])
    }

    @Test func aFolderThatOthersMayWriteToAdmitsNobody() throws {
        let entry = try entry("a")
        try folder.add(entry)
        chmod(folder.path, 0o770)
        #expect(table.entry(for: entry.key) == nil)
        #expect(table.failure == .tooOpen(path: folder.path, mode: 0o770))
        chmod(folder.path, 0o700)
        #expect(table.entry(for: entry.key) == entry)
    }

    @Test func aMissingFolderAdmitsNobody() throws {
        let entry = try entry("a")
        let table = PeerTable(folder: PeerFolder(path: "\(scratch.path)/none"))
        #expect(table.entry(for: entry.key) == nil)
        #expect(table.failure != nil)
    }

    @Test(arguments: ["", ".a", "a/b", "../a", "ä", String(repeating: "a", count: 65)])
    func namesThatAreNoFileNamesAreRefused(name: String) throws {
        var entry = try entry("a")
        entry.name = name
        #expect(throws: PeerFolderError.invalidName) { try folder.add(entry) }
        #expect(throws: PeerFolderError.invalidName) { try folder.remove(name) }
    }

    @Test func aNameIsTakenOnce() throws {
        try folder.add(entry("a"))
        #expect(throws: PeerFolderError.nameTaken("a")) { try folder.add(entry("a")) }
        #expect(throws: PeerFolderError.noSuchPeer("b")) { try folder.remove("b") }
    }

    @Test func draftsAndSecretsInTheFolderMeanNothing() throws {
        let pair = try #require(CurveKeyPair.generate())
        try CertificateFile.writeSecret(pair, to: "\(folder.path)/a.key_secret")
        write([1, 2, 3], to: "\(folder.path)/a.key.X.tmp", mode: 0o600)
        #expect(try folder.list() == PeerListing())
    }
}
