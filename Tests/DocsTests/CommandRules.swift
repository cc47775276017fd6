import Testing
import Wire

@testable import CofferCore

/// The documents speak of the command as it is.
@Suite struct CommandRules {
    @Test(arguments: Repository.documents)
    func everyCommandThatIsNamedExists(document: String) {
        #expect(Self.unknownCommands(in: Repository.text(of: document)) == [])
    }

    @Test(arguments: [
        ("Try `coffer wallet polish`.", 1), ("Try `coffer wallet list --json`.", 0),
        ("```sh\ncoffer unlok\n```", 1), ("`coffer` is a command.", 0),
        ("`coffer help` and `coffer metrics SERVICE`", 0),
    ])
    func aCommandThatDoesNotExistIsNoticed(text: String, count: Int) {
        #expect(Self.unknownCommands(in: text).count == count)
    }

    @Test func everyCodeEndsTheCommandAsTheListSays() {
        #expect(Self.exitProblems(in: Repository.text(of: "docs/errors.md")) == [])
    }

    @Test func aWrongExitCodeIsNoticed() {
        let text = Repository.text(of: "docs/errors.md")
        let changed = text.replacing(
            "| `session.ended` | rejected | | 5 |", with: "| `session.ended` | rejected | | 4 |")
        #expect(changed != text)
        #expect(Self.exitProblems(in: changed).count == 1)
    }

    @Test func everyExitCodeIsListedAsTheHelpExplainsIt() {
        #expect(Self.meanings(in: Repository.text(of: "docs/errors.md")) == Self.explained)
    }

    @Test func anExitCodeThatMeansAnotherThingIsNoticed() {
        let text = Repository.text(of: "docs/errors.md")
        let changed = text.replacing(", or a key that the service does not know. |", with: ". |")
        #expect(changed != text)
        #expect(Self.meanings(in: changed) != Self.explained)
    }

    private static let explained = ExitCode.allCases.map { code in
        let meaning = code.meaning
        return [
            String(code.rawValue), meaning.prefix(1).uppercased() + meaning.dropFirst() + ".",
        ]
    }

    private static func meanings(in text: String) -> [[String]] {
        MarkdownTable.all(in: text).first { $0.header == ["Exit", "Meaning"] }?.rows ?? []
    }

    /// What stands after the command's name, in code, and begins with no verb.
    private static func unknownCommands(in text: String) -> [String] {
        let known = VerbTable.verbs.map(\.words)
        return text.matches(of: #/(?m)(?:^|`)coffer ([a-z][^`\n]*)/#).map { String($0.1) }
            .filter { line in
                let words = line.split(separator: " ").map(String.init)
                return !known.contains { words.starts(with: $0) }
            }
    }

    private static func exitProblems(in text: String) -> [String] {
        let refusals = Catalogues.all.flatMap { $0.catalogue }.map {
            Refusal(code: $0.code, message: $0.meaning, outcome: $0.outcome)
        }
        let codes = Dictionary(
            refusals.map { ($0.code, ExitCode($0, kind: .change).rawValue) }
        ) { first, _ in first }
        return MarkdownTable.all(in: text, with: ["Code", "Exit"]).flatMap { table in
            table.rows.map(table.named).compactMap { row in
                let code = row["Code"] ?? ""
                guard let wanted = codes[code] else { return "\(code) is no code" }
                return row["Exit"] == String(wanted) ? nil : "\(code) ends with \(wanted)"
            }
        }
    }
}
