import Foundation
import Home

/// The example of a settings file beside the code that reads settings.
struct SettingsExample {
    /// The names in it; every setting is a line `# name = default`.
    let names: [String]
    /// The settings that it gives when every line is in force.
    let settings: Settings
    /// The defaults of the same home.
    let defaults: Settings

    init(text: String) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "settings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let home = Home(path: folder.path())
        let lines = text.split(separator: "\n").filter { line in
            line.hasPrefix("# ") && line.split(separator: " ").dropFirst(2).first == "="
        }
        .map { $0.dropFirst(2).replacing("<home>", with: home.path) }
        names = lines.map { String($0.prefix { $0 != " " }) }
        try lines.joined(separator: "\n")
            .write(toFile: home.settingsPath, atomically: true, encoding: .utf8)
        settings = try Settings.read(of: home)
        defaults = Settings(home: home)
    }

    /// The names that the reader of settings knows, taken from its source.
    static func namesInCode(_ file: SourceFile) -> Set<String> {
        var names = Set(
            file.lines.compactMap { line -> String? in
                let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
                guard parts.count >= 3, parts[0].hasSuffix("case ") else { return nil }
                return String(parts[1])
            })
        if file.lines.contains(where: { $0.contains("hasPrefix(\"endpoint.\")") }) {
            names.insert("endpoint.")
        }
        return names
    }
}
