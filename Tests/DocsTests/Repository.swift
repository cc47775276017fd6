import Foundation

/// The files of this repository, found from where this file lies.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The text of a file, by its path from the root; empty where it is missing, so that the rule
    /// that wanted it fails on what it lacks.
    static func text(of path: String) -> String {
        (try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""
    }

    static func has(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }

    /// The files below a folder of the root with one of these endings, sorted.
    static func files(in folder: String, endings: Set<String>) -> [String] {
        let base = root.appending(path: folder)
        let found = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String }
        return (found ?? []).filter { endings.contains(($0 as NSString).pathExtension) }
            .map { "\(folder)/\($0)" }.sorted()
    }

    /// Everything that people read: the README, the changelog and every page of the folders.
    static var documents: [String] {
        ["README.md", "CHANGELOG.md"].filter(has)
            + ["docs", "deploy", "Tests"].flatMap { files(in: $0, endings: ["md"]) }
    }

    /// The sources in which contracts and errors are declared.
    static var sources: [String] {
        files(in: "Services", endings: ["swift"]) + files(in: "Shared", endings: ["swift"])
    }
}
