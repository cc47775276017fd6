import Foundation
import Home
import Testing
import Wire

/// `docs/operations.md` lists the settings that exist, with their defaults and bounds.
@Suite struct SettingsListRules {
    private static let path = "docs/operations.md"
    private static let columns = ["Setting", "Default", "From", "To"]

    @Test func everySettingIsListed() {
        #expect(Self.nameProblems(in: Repository.text(of: Self.path)) == [])
    }

    @Test func defaultsAndBoundsAreThoseOfTheProgram() throws {
        #expect(try Self.valueProblems(in: Repository.text(of: Self.path)) == [])
    }

    @Test(arguments: [
        ("| `kdf_target_ms` |", "| `kdf_target` |"),
        ("| `limits.sessions` |", "| `limits.session` |"),
    ])
    func aWrongNameIsNoticed(right: String, wrong: String) {
        let text = Repository.text(of: Self.path)
        #expect(text.contains(right))
        #expect(Self.nameProblems(in: text.replacing(right, with: wrong)).count == 2)
    }

    @Test(arguments: [
        ("| `kdf_target_ms` | 350 | 1 | 5000 |", "| `kdf_target_ms` | 250 | 1 | 5000 |"),
        ("| `kdf_target_ms` | 350 | 1 | 5000 |", "| `kdf_target_ms` | 350 | 0 | 5000 |"),
        ("| `kdf_target_ms` | 350 | 1 | 5000 |", "| `kdf_target_ms` | 350 | 1 | 4999 |"),
    ])
    func aWrongDefaultOrBoundIsNoticed(right: String, wrong: String) throws {
        let text = Repository.text(of: Self.path)
        #expect(text.contains(right))
        #expect(try Self.valueProblems(in: text.replacing(right, with: wrong)).count == 1)
    }

    private static func rows(in text: String) -> [[String: String]] {
        MarkdownTable.all(in: text, with: columns).flatMap { $0.rows.map($0.named) }
    }

    // MARK: Names

    private static func nameProblems(in text: String) -> [String] {
        differences(
            documented: rows(in: text).map { $0["Setting"] ?? "" },
            actual: declaredNames(in: Repository.text(of: "Shared/Home/Settings.swift")),
            in: path)
    }

    /// The names that the reader of settings knows.
    private static func declaredNames(in source: String) -> [String] {
        let names = source.matches(of: #/case "([a-z_.]+)":/#).map { String($0.1) }
        let prefixes = source.matches(of: #/hasPrefix\("([a-z_]+\.)"\)/#).map {
            "\($0.1)SERVICE"
        }
        return names + prefixes
    }

    // MARK: Values

    private static func valueProblems(in text: String) throws -> [String] {
        var problems: [String] = []
        for row in rows(in: text) {
            guard let name = row["Setting"], let from = Int(row["From"] ?? ""),
                let to = Int(row["To"] ?? "")
            else { continue }
            for bound in [from, to] where try !takes(name, bound) {
                problems.append("\(name) does not take \(bound)")
            }
            for beyond in [from - 1, to + 1] where try takes(name, beyond) {
                problems.append("\(name) takes \(beyond)")
            }
            if let value = defaults[name], String(value) != row["Default"] {
                problems.append("\(name) is \(value) by default")
            } else if defaults[name] == nil {
                problems.append("\(name): this test does not know its default")
            }
        }
        return problems
    }

    private static let defaults: [String: Int] = {
        let settings = Settings(home: Home(path: "/nowhere"))
        return [
            "kdf_target_ms": settings.kdfTargetMilliseconds,
            "limits.in_flight_per_peer": settings.inFlightPerPeer,
            "limits.in_flight": settings.inFlight,
            "limits.unsettled_per_peer": settings.unsettledPerPeer,
            "limits.sessions": settings.sessions,
            "limits.kdf_queue": settings.kdfQueue,
        ]
    }()

    private static func takes(_ name: String, _ value: Int) throws -> Bool {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "coffer-settings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let home = Home(path: folder.path)
        try Data("\(name) = \(value)\n".utf8).write(to: URL(filePath: home.settingsPath))
        do throws(SettingsError) {
            _ = try Settings.read(of: home)
            return true
        } catch {
            return false
        }
    }
}
