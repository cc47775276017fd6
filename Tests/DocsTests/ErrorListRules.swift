import Testing

/// `docs/errors.md` lists the errors that exist, and no other.
@Suite struct ErrorListRules {
    private static let path = "docs/errors.md"
    private static let existing = ErrorLine.all(of: Catalogues.all)

    @Test func everyCodeStandsInTheListWithItsOutcome() {
        #expect(Self.problems(in: Repository.text(of: Self.path)) == [])
    }

    @Test func everyCodeSaysWhatItMeansAndWhatToDo() {
        for table in Self.tables(in: Repository.text(of: Self.path)) {
            for row in table.rows.map(table.named) {
                #expect(row["Meaning"]?.isEmpty == false, "\(row["Code"] ?? "")")
                #expect(row["What to do"]?.isEmpty == false, "\(row["Code"] ?? "")")
            }
        }
    }

    @Test func everyTypeOfErrorIsLookedAt() {
        let known = Set(Catalogues.all.map { String(describing: $0) })
        let declared = Catalogues.declared(in: Repository.sources.map(Repository.text))
        #expect(declared == known)
    }

    @Test(arguments: [
        ("| `bus.busy` |", "| `bus.bussy` |"),
        ("| `bus.lost` | unknown |", "| `bus.lost` | rejected |"),
        ("| `storage.full` | rejected |", "| `storage.full` | unknown |"),
        ("| `bus.unreachable` | rejected | 1000 ms |", "| `bus.unreachable` | rejected | 10 ms |"),
    ])
    func aWrongLineIsNoticed(right: String, wrong: String) {
        let text = Repository.text(of: Self.path)
        #expect(text.contains(right))
        #expect(Self.problems(in: text.replacing(right, with: wrong)) != [])
    }

    @Test func aMissingLineIsNoticed() {
        let lines = Repository.text(of: Self.path).split(
            separator: "\n", omittingEmptySubsequences: false)
        let shortened = lines.filter { !$0.hasPrefix("| `session.ended`") }
        #expect(shortened.count == lines.count - 1)
        #expect(Self.problems(in: shortened.joined(separator: "\n")) != [])
    }

    @Test func anErrorTypeThatNobodyListedIsNoticed() {
        let source = "public enum LooseFault: String, NamedFault {\n    case one\n}"
        #expect(Catalogues.declared(in: [source]) == ["LooseFault"])
    }

    private static func tables(in text: String) -> [MarkdownTable] {
        MarkdownTable.all(in: text, with: ["Code", "Outcome", "Wait"])
    }

    private static func problems(in text: String) -> [String] {
        let documented = tables(in: text).flatMap { table in
            table.rows.map(table.named).map { row in
                ErrorLine(
                    code: row["Code"] ?? "", outcome: row["Outcome"] ?? "",
                    waitMilliseconds: row["Wait"]?.replacing(" ms", with: "") ?? "")
            }
        }
        return differences(documented: documented, actual: existing, in: path)
    }
}
