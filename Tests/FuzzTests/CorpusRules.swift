import Foundation
import Testing

/// The inputs that fuzzing found worth keeping, given to the decoders once more.
@Suite("The kept inputs")
struct CorpusRules {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "Corpus")

    @Test("of each target break no promise", arguments: FuzzTarget.all.map(\.name))
    func replay(_ name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let folder = Self.folder.appending(path: name)
        let files = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files { target.run(Array(try Data(contentsOf: file))) }
        let seeds = target.seeds()
        for seed in seeds { target.run(seed) }
        let line = "\(name): \(files.count) kept inputs and \(seeds.count) seeds\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }

    @Test("are those of targets that exist")
    func targets() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path())
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}
