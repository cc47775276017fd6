import Foundation

/// What a person who checks out Coffer gets: every text file, and what lies at the top.
struct SourceTree: Sendable {
    let files: [SourceFile]
    let top: [String]

    /// The tree that this test was built from.
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static let own = SourceTree(at: root)

    /// Made by tools, never committed.
    private static let made: Set<String> = [".build", ".git", "__pycache__"]

    init(files: [SourceFile], top: [String] = []) {
        self.files = files
        self.top = top
    }

    private init(at root: URL) {
        let manager = FileManager.default
        top = ((try? manager.contentsOfDirectory(atPath: root.path())) ?? [])
            .filter { !Self.made.contains($0) }.sorted()
        var files: [SourceFile] = []
        var waiting = top
        while let path = waiting.popLast() {
            let place = root.appending(path: path)
            if let names = try? manager.contentsOfDirectory(atPath: place.path()) {
                waiting += names.filter { !Self.made.contains($0) }.map { "\(path)/\($0)" }
            } else if let text = try? String(contentsOf: place, encoding: .utf8) {
                files.append(SourceFile(path: path, text: text))
            }
        }
        self.files = files.sorted { $0.path < $1.path }
    }

    var swift: [SourceFile] { files.filter(\.isSwift) }
    var product: [SourceFile] { swift.filter(\.isProduct) }

    func file(_ path: String) -> SourceFile? { files.first { $0.path == path } }
}
