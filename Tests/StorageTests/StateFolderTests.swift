import Glibc
import StateFolders
import Storage
import TestKit
import Testing

@Suite struct StateFolderRules {
    let temporary: TemporaryFolder
    let path: String

    init() throws {
        temporary = try TemporaryFolder()
        path = temporary.path(of: "state")
    }

    private func refusal(of path: String) -> StateFolderError? {
        do throws(StateFolderError) {
            _ = try StateFolder(path: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func aMissingFolderIsMadePrivate() throws {
        let folder = try StateFolder(path: path + "//")
        #expect(folder.path == path && folder.path(of: "db") == path + "/db")
        #expect(mode(of: path) == 0o700 && mode(of: path + "/lock") == 0o600)
    }

    @Test func aMissingParentIsRefused() {
        #expect(refusal(of: path + "/below") == .noParent(path + "/below"))
    }

    @Test func aSecondInstanceIsRefusedUntilTheFirstEnds() throws {
        var first: StateFolder? = try StateFolder(path: path)
        #expect(refusal(of: path) == .inUse(path))
        #expect(first != nil)
        first = nil
        #expect(refusal(of: path) == nil)
    }

    @Test func aKilledProcessLeavesNoLock() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let folder = try StateFolder(path: path)
            kill(getpid(), SIGKILL)
            _ = folder
        }
        #expect(mode(of: path + "/lock") == 0o600)
        #expect(refusal(of: path) == nil)
    }

    @Test func aSecondInstanceIsRefusedBeforeItReads() throws {
        let first = try StateFolder(path: path)
        try writeFile(path + "/db", [], mode: 0o644)
        #expect(refusal(of: first.path) == .inUse(path))
    }

    @Test(arguments: [0o755, 0o750, 0o701, 0o720] as [mode_t])
    func aLooseFolderIsRefused(mode: mode_t) throws {
        #expect(mkdir(path, 0o700) == 0 && chmod(path, mode) == 0)
        let error = refusal(of: path)
        #expect(error == .loose(path, found: mode, wanted: 0o700))
        #expect(error?.sentence.contains("chmod 700 \(path)") == true)
        #expect(chmod(path, 0o700) == 0)
        #expect(refusal(of: path) == nil)
    }

    @Test(arguments: ["db", "lock", "db-wal"], [0o640, 0o604, 0o644, 0o700] as [mode_t])
    func aLooseFileIsRefused(name: String, mode: mode_t) throws {
        #expect(mkdir(path, 0o700) == 0)
        try writeFile("\(path)/\(name)", [1], mode: mode)
        let error = refusal(of: path)
        #expect(error == .loose("\(path)/\(name)", found: mode, wanted: 0o600))
        #expect(error?.sentence.contains("chmod 600 \(path)/\(name)") == true)
        #expect(chmod("\(path)/\(name)", 0o600) == 0)
        #expect(refusal(of: path) == nil)
    }

    @Test func aRefusalLetsTheLockGo() throws {
        #expect(mkdir(path, 0o700) == 0)
        try writeFile(path + "/db", [], mode: 0o644)
        #expect(refusal(of: path) != nil)
        #expect(refusal(of: path) == .loose(path + "/db", found: 0o644, wanted: 0o600))
    }

    @Test func aPrivateFolderWithinIsFineAndALooseOneIsNot() throws {
        #expect(mkdir(path, 0o700) == 0 && mkdir(path + "/within", 0o700) == 0)
        #expect(refusal(of: path) == nil)
        #expect(chmod(path + "/within", 0o755) == 0)
        #expect(refusal(of: path) == .loose(path + "/within", found: 0o755, wanted: 0o700))
    }

    @Test(arguments: ["", "/"])
    func aLinkToAFolderIsRefused(ending: String) throws {
        #expect(mkdir(path, 0o700) == 0)
        let link = temporary.path(of: "link")
        #expect(symlink(path, link) == 0)
        #expect(refusal(of: link + ending) == .symbolicLink(link))
    }

    @Test(arguments: ["db", "lock"])
    func aLinkInTheFolderIsRefused(name: String) throws {
        #expect(mkdir(path, 0o700) == 0)
        try writeFile(temporary.path(of: "elsewhere"), [])
        #expect(symlink(temporary.path(of: "elsewhere"), "\(path)/\(name)") == 0)
        #expect(refusal(of: path) == .symbolicLink("\(path)/\(name)"))
    }

    @Test func whatIsNeitherFileNorFolderIsRefused() throws {
        #expect(mkdir(path, 0o700) == 0 && mkfifo(path + "/pipe", 0o600) == 0)
        #expect(refusal(of: path) == .notAFile(path + "/pipe"))
        try writeFile(temporary.path(of: "file"), [])
        #expect(refusal(of: temporary.path(of: "file")) == .notAFolder(temporary.path(of: "file")))
    }

    @Test(.enabled(if: geteuid() == 0))
    func anotherUsersFilesAreRefused() throws {
        #expect(mkdir(path, 0o700) == 0)
        try writeFile(path + "/db", [])
        #expect(chown(path + "/db", 12_345, 0) == 0)
        #expect(refusal(of: path) == .foreignOwner(path + "/db", found: 12_345, wanted: 0))
        #expect(chown(path, 12_345, 0) == 0)
        #expect(refusal(of: path) == .foreignOwner(path, found: 12_345, wanted: 0))
    }

    /// Root takes another's folder by name, and leaves nothing of its own in it.
    @Test(.enabled(if: geteuid() == 0))
    func whatRootMakesInAnothersFolderIsTheOthers() throws {
        #expect(mkdir(path, 0o700) == 0 && chown(path, 12_345, 54_321) == 0)
        do {
            let folder = try StateFolder(path: path, owner: 12_345)
            #expect(folder.owner == 12_345 && folder.group == 54_321)
        }
        #expect(owner(of: path + "/lock") == [12_345, 54_321])
        #expect(throws: StateFolderError.foreignOwner(path, found: 12_345, wanted: 12_346)) {
            _ = try StateFolder(path: path, owner: 12_346)
        }
        try writeFile(path + "/db", [])
        #expect(throws: StateFolderError.foreignOwner(path + "/db", found: 0, wanted: 12_345)) {
            _ = try StateFolder(path: path, owner: 12_345)
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func aFolderIsGivenAwayWithAllThatIsInIt() throws {
        let folder = try StateFolder(path: path)
        try writeFile(path + "/db", [])
        try writeFile(temporary.path(of: "outside"), [])
        #expect(symlink(temporary.path(of: "outside"), path + "/link") == 0)
        try folder.give(to: 12_345, group: 54_321)
        for name in ["", "/db", "/lock"] {
            #expect(owner(of: path + name) == [12_345, 54_321])
        }
        #expect(owner(of: temporary.path(of: "outside")) == [geteuid(), getegid()])
    }

    private func owner(of path: String) -> [UInt32] {
        var status = stat()
        return stat(path, &status) == 0 ? [status.st_uid, status.st_gid] : []
    }
}
