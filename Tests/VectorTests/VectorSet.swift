import Foundation
import Testing

/// Every vector that this run reads: `Tests/Vectors/*.json` and what `$COFFER_VECTORS` names.
struct VectorSet: Sendable {
    /// All cases of one area, from whichever files.
    struct Area: Sendable, CustomTestStringConvertible {
        let name: String
        var cases: [VectorCase]
        var testDescription: String { name }
    }

    private(set) var areas: [Area] = []
    /// Files and paths that could not be read, and why.
    private(set) var problems: [String] = []

    static let all = VectorSet(
        ownFolder: URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Vectors").path,
        more: ProcessInfo.processInfo.environment["COFFER_VECTORS"])

    /// `more` is a list of files and folders, parted by colons, commas or line feeds.
    init(ownFolder: String, more: String?) {
        var paths = jsonFiles(in: ownFolder)
        for path in (more ?? "").split(whereSeparator: { ":,\n".contains($0) }).map(String.init) {
            var isFolder: ObjCBool = false
            if !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
                problems.append("\(path): does not exist")
            } else if isFolder.boolValue {
                let files = jsonFiles(in: path)
                if files.isEmpty { problems.append("\(path): holds no *.json") }
                paths += files
            } else {
                paths.append(path)
            }
        }
        for path in paths { add(path) }
        areas.sort { $0.name < $1.name }
    }

    private mutating func add(_ path: String) {
        do {
            let file = try VectorFile(path: path)
            if let index = areas.firstIndex(where: { $0.name == file.area }) {
                areas[index].cases += file.cases
            } else {
                areas.append(Area(name: file.area, cases: file.cases))
            }
        } catch {
            problems.append("\(path): \(error)")
        }
    }
}

private func jsonFiles(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".json") }.sorted().map { "\(folder)/\($0)" }
}
