import Glibc
import Secrets
import TestKit
import Testing

@testable import WholeFiles

@Suite struct WholeFileRules {
    private let folder: TemporaryFolder
    private let random = KernelRandom()
    private let three = ["a", "b", "c"].map { NewFile(name: $0, bytes: Array("of \($0)".utf8)) }

    init() throws { folder = try TemporaryFolder() }

    // MARK: One file

    @Test(arguments: [0, 1, 70_000]) func aFileIsThereWithAllItsBytes(_ count: Int) throws {
        let bytes = random.bytes(count)
        try WholeFiles.write(bytes, to: folder.path(of: "file"), random: random)
        #expect(content(of: "file") == bytes)
        #expect(mode(of: "file") == 0o600)
        #expect(names() == ["file"])
    }

    @Test func nothingIsReplaced() throws {
        let path = folder.path(of: "file")
        try WholeFiles.write([1], to: path, random: random)
        #expect(throws: WholeFileError.exists(path: path)) {
            try WholeFiles.write([2], to: path, random: random)
        }
        #expect(throws: WholeFileError.exists(path: path)) { try WholeFiles.check(path) }
        #expect(content(of: "file") == [1])
        #expect(names() == ["file"])
    }

    // MARK: Trying

    @Test func aFolderIsTriedAndNothingIsLeft() throws {
        #expect(try WholeFiles.tryFolder(folder.path, random: random) == .canBeFilled)
        let new = folder.path(of: "new")
        #expect(try WholeFiles.tryFolder(new, random: random) == .canBeMade)
        #expect(names().isEmpty)
    }

    @Test func aFolderThatCannotBeUsedIsNamed() throws {
        try WholeFiles.write([1], to: folder.path(of: "file"), random: random)
        for path in [folder.path(of: "file"), folder.path(of: "no/new"), "/proc/out", "/proc"] {
            let error = #expect(throws: WholeFileError.self) {
                try WholeFiles.tryFolder(path, random: random)
            }
            let named = path.hasSuffix("no/new") ? folder.path(of: "no") : path
            #expect(error?.description.hasPrefix("\(named) cannot be written: ") == true)
        }
        #expect(names() == ["file"])
    }

    // MARK: Links and names

    @Test func aLinkThatLeadsNowhereIsNotFollowed() throws {
        try #require(symlink(folder.path(of: "elsewhere"), folder.path(of: "file")) == 0)
        #expect(throws: WholeFileError.exists(path: folder.path(of: "file"))) {
            try WholeFiles.write([2], to: folder.path(of: "file"), random: random)
        }
        #expect(names() == ["file"])
    }

    @Test func aNameThatIsTakenInTheMeantimeIsNotReplaced() throws {
        let open = try Folder(folder.path)
        let part = try PartFile(NewFile(name: "file", bytes: [1]), in: open, random: random)
        try WholeFiles.write([2], to: folder.path(of: "file"), random: random)
        #expect(throws: WholeFileError.exists(path: folder.path(of: "file"))) {
            try part.settle()
        }
        part.remove()
        #expect(content(of: "file") == [2])
        #expect(names() == ["file"])
    }

    @Test func aFolderThatIsNotThereIsNamed() {
        let path = folder.path(of: "no/file")
        #expect(throws: WholeFileError.notWritten(path: folder.path(of: "no"), code: ENOENT)) {
            try WholeFiles.write([2], to: path, random: random)
        }
        #expect(throws: WholeFileError.self) { try WholeFiles.check(path) }
    }

    @Test(arguments: [
        ("a", ".", "a"), ("/a", "/", "a"), ("x/y", "x", "y"), ("x/y//", "x", "y"),
        ("/", "/", "."), ("//", "/", "."),
    ])
    func aPathIsAFolderAndAName(_ path: String, _ folder: String, _ name: String) {
        #expect(Place(path).folder == folder)
        #expect(Place(path).name == name)
    }

    // MARK: Several files

    @Test func severalFilesAreThereTogether() throws {
        try WholeFiles.write(three, into: folder.path, random: random)
        #expect(names() == ["a", "b", "c"])
        #expect(content(of: "b") == Array("of b".utf8))
    }

    @Test func whereOneNameIsTakenNoneIsWritten() throws {
        try WholeFiles.write([9], to: folder.path(of: "c"), random: random)
        #expect(throws: WholeFileError.exists(path: folder.path(of: "c"))) {
            try WholeFiles.write(three, into: folder.path, random: random)
        }
        #expect(names() == ["c"])
        #expect(content(of: "c") == [9])
    }

    /// Two files want one name, so the second cannot have it.
    @Test func whereTheLastDoesNotGetItsNameTheOthersLoseTheirs() throws {
        #expect(throws: WholeFileError.exists(path: folder.path(of: "a"))) {
            try WholeFiles.write(three + [three[0]], into: folder.path, random: random)
        }
        #expect(names().isEmpty)
    }

    @Test func aNewFolderAppearsWithItsFiles() throws {
        try WholeFiles.write(three, asFolder: folder.path(of: "new/"), random: random)
        #expect(names() == ["new"])
        #expect(names(in: "new") == ["a", "b", "c"])
        #expect(mode(of: "new") == 0o700)
    }

    /// What came to stand there in the meantime stays alone.
    @Test func aFolderThatIsThereIsNotFilledAsANewOne() throws {
        try WholeFiles.write(three, asFolder: folder.path(of: "new"), random: random)
        #expect(throws: WholeFileError.exists(path: folder.path(of: "new"))) {
            try WholeFiles.write(
                [NewFile(name: "d", bytes: [4])], asFolder: folder.path(of: "new"), random: random)
        }
        #expect(names(in: "new") == ["a", "b", "c"])
        let parent = try Folder(folder.path)
        let part = try PartFolder("new", in: parent, random: random)
        #expect(throws: WholeFileError.exists(path: folder.path(of: "new"))) { try part.settle() }
        part.remove([])
        #expect(names() == ["new"])
    }

    @Test func aNewFolderThatCannotBeFilledIsNotThere() throws {
        #expect(throws: WholeFileError.self) {
            try WholeFiles.write(
                three + [three[0]], asFolder: folder.path(of: "new"), random: random)
        }
        #expect(names().isEmpty)
    }

    @Test(arguments: ["new", "new/"])
    func whatFailsInANewFolderIsNamedAsItWasGiven(_ given: String) throws {
        let long = String(repeating: "x", count: 300)
        let path = folder.path(of: "new/\(long)")
        // Nobody can say that nothing has such a name.
        #expect(throws: WholeFileError.exists(path: path)) {
            try WholeFiles.write(
                [NewFile(name: long, bytes: [1])], asFolder: folder.path(of: given),
                random: random)
        }
        #expect(names().isEmpty)
    }

    @Test func whatIsNoFolderTakesNoFiles() throws {
        try WholeFiles.write([1], to: folder.path(of: "file"), random: random)
        #expect(throws: WholeFileError.notWritten(path: folder.path(of: "file"), code: ENOTDIR)) {
            try WholeFiles.write(three, into: folder.path(of: "file"), random: random)
        }
    }

    // MARK: Killed writers

    @Test func whatAKilledWriterLeftIsRemovedByTheNext() throws {
        make(Self.part)
        try #require(mkdir(folder.path(of: Self.partFolder), 0o700) == 0)
        make("\(Self.partFolder)/a")
        make("\(Self.partFolder)/\(Self.part)")
        make("file.of.mine")
        try WholeFiles.write([1], to: folder.path(of: "file"), random: random)
        #expect(names() == ["file", "file.of.mine"])
    }

    private static let part = ".coffer-part-0123456789abcdeff33f1185"
    private static let partFolder = ".coffer-part-00000000000000009be17165"

    @Test func whatNoWriterMadeStays() throws {
        let foreign = [
            ".coffer-part-0123456789abcdef", "\(Self.part)0", ".coffer-part-", ".coffer-part-mine",
            ".coffer-part-0123456789abcdef00000000", Self.part.uppercased(),
        ]
        for name in foreign {
            try #require(mkdir(folder.path(of: name), 0o700) == 0)
            make("\(name)/mine")
        }
        // A writer's name, and not what a writer makes.
        let holder = Self.partFolder
        try #require(mkdir(folder.path(of: holder), 0o700) == 0)
        make("\(holder)/a")
        try #require(mkdir(folder.path(of: "\(holder)/sub"), 0o700) == 0)
        make("\(holder)/sub/mine")
        make(Self.part)
        try #require(chmod(folder.path(of: Self.part), 0o644) == 0)
        try WholeFiles.write([1], to: folder.path(of: "file"), random: random)
        #expect(names() == (foreign + [holder, Self.part, "file"]).sorted())
        for name in foreign { #expect(names(in: name) == ["mine"]) }
        #expect(names(in: holder) == ["a", "sub"])
    }

    @Test func whatALivingWriterHasStays() throws {
        let open = try Folder(folder.path)
        let part = try PartFile(NewFile(name: "mine", bytes: [1]), in: open, random: random)
        let partFolder = try PartFolder("ours", in: open, random: random)
        try WholeFiles.write([2], to: folder.path(of: "file"), random: random)
        #expect(names().count == 3)
        try part.settle()
        try WholeFiles.write(three, into: partFolder.path, random: random)
        try partFolder.settle()
        #expect(names() == ["file", "mine", "ours"])
    }

    @Test func aWriterThatGivesUpLeavesNothing() throws {
        let open = try Folder(folder.path)
        do {
            _ = try PartFile(NewFile(name: "mine", bytes: [1]), in: open, random: random)
        }
        #expect(names().isEmpty)
    }

    // MARK: Looking

    private func make(_ name: String) {
        close(open(folder.path(of: name), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
    }

    private func names(in name: String = ".") -> [String] {
        TemporaryFolder.names(in: folder.path(of: name))
    }

    private func content(of name: String) -> [UInt8]? {
        let file = open(folder.path(of: name), O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 100_000)
        let count = read(file, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes[..<count])
    }

    private func mode(of name: String) -> mode_t {
        var status = stat()
        return stat(folder.path(of: name), &status) == 0 ? status.st_mode & 0o777 : 0
    }
}
