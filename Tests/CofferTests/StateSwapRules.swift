import Glibc
import Home
import TestKit
import Testing

@testable import CofferCore

/// A home has the old state or the new one, wherever a command that exchanges them is cut off.
@Suite struct StateSwapRules {
    private let folder: TemporaryFolder
    private let home: Home
    private let swap: StateSwap

    init() throws {
        folder = try TemporaryFolder()
        home = Home(path: folder.path(of: "home"))
        swap = StateSwap(home)
        try #require(mkdir(home.path, 0o700) == 0)
        try makeState("state", content: "old")
    }

    @Test func theStateIsExchangedAndTheOldOneKept() throws {
        try swap.begin()
        try makeState("state-incoming", content: "new")
        let aside = try #require(try swap.commit())
        #expect(content("state") == "new")
        #expect(aside.hasPrefix("\(home.path)/state-before-"))
        #expect(content(String(aside.dropFirst(home.path.count + 1))) == "old")
        #expect(names().count == 2)
        #expect(names("state") == ["wallet-vault"])
    }

    @Test func aHomeWithoutAStateKeepsNothing() throws {
        unlink("\(home.path)/state/wallet-vault/store.sqlite")
        #expect(!StateSwap.isState(home.statesPath))
        try swap.begin()
        try makeState("state-incoming", content: "new")
        #expect(try swap.commit() == nil)
        #expect(content("state") == "new")
        #expect(names() == ["state"])
    }

    @Test func whatWasBegunIsUndone() throws {
        try swap.begin()
        try makeState("state-incoming", content: "new")
        try swap.recover()
        #expect(content("state") == "old")
        #expect(names() == ["state"])
    }

    @Test func aFolderWithoutItsMarkYetIsUndone() throws {
        try #require(mkdir(swap.incomingPath, 0o700) == 0)
        try swap.recover()
        #expect(names() == ["state"])
    }

    @Test func anExchangeIsFinished() throws {
        try swap.begin()
        try makeState("state-incoming", content: "new")
        try exchange()
        try swap.recover()
        #expect(content("state") == "new")
        let aside = try #require(names().first { $0.hasPrefix("state-before-") })
        #expect(content(aside) == "old")
        #expect(names("state") == ["wallet-vault"])
    }

    @Test func aMarkThatIsLeftIsRemoved() throws {
        try swap.begin()
        try makeState("state-incoming", content: "new")
        try exchange()
        try #require(rename(swap.incomingPath, "\(home.path)/state-before-1") == 0)
        try swap.recover()
        #expect(names() == ["state", "state-before-1"])
        #expect(names("state") == ["wallet-vault"])
    }

    /// Whatever it is, it may be a state.
    @Test func whatNobodyKnowsIsKept() throws {
        try makeState("state-incoming", content: "unknown")
        try swap.recover()
        let aside = try #require(names().first { $0.hasPrefix("state-before-") })
        #expect(content(aside) == "unknown")
        #expect(content("state") == "old")
    }

    // MARK: Parts

    private func exchange() throws {
        let state = "\(home.path)/state"
        try #require(rename(state, state + "-x") == 0)
        try #require(rename(swap.incomingPath, state) == 0)
        try #require(rename(state + "-x", swap.incomingPath) == 0)
    }

    private func makeState(_ name: String, content: String) throws {
        let path = "\(home.path)/\(name)"
        mkdir(path, 0o700)
        try #require(mkdir("\(path)/wallet-vault", 0o700) == 0)
        TestFile.write(Array(content.utf8), to: "\(path)/wallet-vault/store.sqlite")
    }

    private func content(_ name: String) -> String {
        String(
            decoding: TestFile.contents(of: "\(home.path)/\(name)/wallet-vault/store.sqlite"),
            as: UTF8.self)
    }

    private func names(_ name: String = ".") -> [String] {
        guard let list = opendir("\(home.path)/\(name)") else { return [] }
        defer { closedir(list) }
        var names: [String] = []
        while let entry = readdir(list) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
