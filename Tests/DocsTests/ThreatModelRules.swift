import Testing

/// `docs/threat-model.md` names, for each rule and each part that can be stolen, tests that exist.
@Suite struct ThreatModelRules {
    @Test func everyClaimNamesItsTests() {
        #expect(Self.problems(in: Repository.text(of: "docs/threat-model.md")) == [])
    }

    /// What each row lacks: names of tests, each of which is the name of one, or the words that
    /// nothing tests it.
    private static func problems(
        in text: String, tests: TestNames = .own
    ) -> [String] {
        let tables = MarkdownTable.all(in: text, with: ["Shown by"])
        guard tables.contains(where: { $0.header.contains("The thief cannot") }),
            tables.contains(where: { $0.header.contains("Rule") })
        else { return ["A table is missing."] }
        return tables.flatMap { table in
            table.rows.flatMap { row -> [String] in
                guard row.count == table.header.count else { return ["A row of other columns."] }
                // Where a thief can do everything there is nothing to show.
                guard !row.dropFirst().dropLast().contains("") || !row[row.count - 1].isEmpty
                else { return [] }
                return problems(of: row[0], shownBy: row[row.count - 1], tests)
            }
        }
    }

    private static func problems(
        of claim: String, shownBy cell: String, _ tests: TestNames
    ) -> [String] {
        let names = cell.matches(of: #/`([^`]+)`/#).map { String($0.1) }
        guard !names.isEmpty || cell.hasPrefix("Not tested: ") else {
            return ["\(claim): no test"]
        }
        return names.filter { tests.count(of: $0) != 1 }.map {
            "\(claim): \(tests.count(of: $0)) tests are called \($0)"
        }
    }

    private static let small = """
        | Rule | Shown by |
        | --- | --- |
        | 1 | `itHolds` |

        | Part | The thief can | The thief cannot | Shown by |
        | --- | --- | --- | --- |
        | One | Read. | Write. | `First/itHolds`, `another`. Not tested: more. |
        | Two | Read. | Write. | Not tested: why. |
        | Three | All. | | |
        """

    private static let tests: TestNames = {
        var tests = TestNames()
        let mark = "@Test"
        tests.take(
            swift: "struct First {\n\(mark) func itHolds() {}\n\(mark)(1)\nfunc another() {}\n}")
        return tests
    }()

    @Test func aPageInOrderHasNoProblem() {
        #expect(Self.problems(in: Self.small, tests: Self.tests) == [])
    }

    @Test(arguments: [
        ("| `itHolds`", "| `itHeld`"), ("`another`", "`other`"), ("| `itHolds`", "| itHolds"),
        ("First/", "Second/"), ("Not tested: why.", "Later."), ("Not tested: why.", ""),
        ("| Rule | Shown by |", "| Rule | Test |"), ("The thief cannot", "He cannot"),
        ("| Three | All. | | |", "| Three | All. | | `none` |"),
    ])
    func aFaultIsNoticed(right: String, wrong: String) {
        #expect(Self.small.contains(right))
        let text = Self.small.replacing(right, with: wrong)
        #expect(Self.problems(in: text, tests: Self.tests) != [])
    }
}
