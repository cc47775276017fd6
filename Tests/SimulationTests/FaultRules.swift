import Foundation
import Testing

/// The planted faults, without building any: `deploy/simulate-faults` does that.
@Suite struct FaultRules {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let folder = root.appending(path: "Tests/Simulation/Faults")

    private static func patches() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path())
            .filter { $0.hasSuffix(".patch") }.map { String($0.dropLast(6)) }.sorted()
    }

    @Test func everyListedFaultIsAPatch() throws {
        let list = try String(contentsOf: Self.folder.appending(path: "README.md"), encoding: .utf8)
        let listed = list.split(separator: "\n").compactMap { line -> String? in
            guard line.hasPrefix("| `") else { return nil }
            return String(line.dropFirst(3).prefix { $0 != "`" })
        }
        #expect(Set(listed) == Set(try Self.patches()))
    }

    /// What a patch takes out stands in the tree, once for each place.
    @Test func everyPatchApplies() throws {
        for name in try Self.patches() {
            let text = try String(
                contentsOf: Self.folder.appending(path: "\(name).patch"), encoding: .utf8)
            for hunk in Self.hunks(of: text) {
                let file = try String(
                    contentsOf: Self.root.appending(path: hunk.path), encoding: .utf8)
                let stands = file.contains(hunk.before) && hunk.before != hunk.after
                #expect(stands, "\(name): \(hunk.path)")
            }
        }
    }

    private struct Hunk {
        let path: String
        var before = ""
        var after = ""
    }

    private static func hunks(of patch: String) -> [Hunk] {
        var hunks: [Hunk] = []
        var path = ""
        for line in patch.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("diff ") {
                path = ""
            } else if line.hasPrefix("+++ b/") {
                path = String(line.dropFirst(6))
            } else if line.hasPrefix("@@") {
                hunks.append(Hunk(path: path))
            } else if let last = hunks.indices.last, hunks[last].path == path {
                let rest = line.dropFirst() + "\n"
                if line.hasPrefix(" ") || line.hasPrefix("-") { hunks[last].before += rest }
                if line.hasPrefix(" ") || line.hasPrefix("+") { hunks[last].after += rest }
            }
        }
        return hunks
    }
}
