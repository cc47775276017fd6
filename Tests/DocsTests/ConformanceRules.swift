import Testing

/// `docs/conformance.md` names files and tests that exist, and counts what it lists.
@Suite struct ConformanceRules {
    private static let page = "docs/conformance.md"

    @Test func everyRuleNamesAPlaceAndATestAndTheCountsAgree() {
        #expect(ConformancePage(Repository.text(of: Self.page)).problems() == [])
    }

    private static let small = """
        | Section | Sentences | Rules | Rows | Not built |
        | --- | --- | --- | --- | --- |
        | A. [One](#a-one) | 6 | 5 | 4 | 1 |

        | Sentences | Why |
        | --- | --- |
        | A4 to A5 | History. |

        ## A. One

        | Sentences | Rule | Where | Test |
        | --- | --- | --- | --- |
        | A1, A2 | Said twice. | `one.swift` | `itHolds` |
        | A3 | Another. | `one.swift`, `two.swift` | `Second/twice` |
        | A3 | A third. | `two.swift` | `a row` |
        | A6 | The last. | | not built |
        """

    private static let tests: TestNames = {
        var tests = TestNames()
        let mark = "@Test"
        tests.take(
            swift: "struct First {\n\(mark) func itHolds() {}\n\(mark)(1)\nfunc twice() {}\n}")
        tests.take(
            swift: "struct Second {\n\(mark) func twice() {}\n// \(mark) func gone() {}\n"
                + "func helper() {}\n}")
        tests.take(rows: "ROWS = (\n    Row(\"a row\", a_row),\n)\nCHECKS = (\n    one,\n)\n")
        return tests
    }()

    private static func problems(in text: String) -> [String] {
        ConformancePage(text).problems(tests: tests) { ["one.swift", "two.swift"].contains($0) }
    }

    @Test func aPageInOrderHasNoProblem() {
        #expect(Self.problems(in: Self.small) == [])
        #expect(Self.tests.count(of: "one") == 1)
    }

    @Test(arguments: [
        ("`itHolds`", "`itHeld`"), ("`itHolds`", "`gone`"), ("`itHolds`", "`helper`"),
        ("`itHolds`", "itHolds"), ("`itHolds`", "`First/itHolds`, `a row`"),
        ("`Second/twice`", "`twice`"), ("`a row`", "`another row`"),
        ("`one.swift` |", "`1.swift` |"),
        ("`two.swift` | `a row`", " | `a row`"), ("not built", "later"),
        ("Said twice.", ""), ("A1, A2", "A1, B2"), ("A1, A2", "A1"), ("A1, A2", "A1, A4"),
        ("A4 to A5", "A4"), ("A4 to A5", "A4 to A6"), ("A4 to A5", "A4, A5, A5"),
        ("| 6 | 5 | 4 | 1 |", "| 7 | 5 | 4 | 1 |"), ("| 6 | 5 | 4 | 1 |", "| 6 | 4 | 4 | 1 |"),
        ("| 6 | 5 | 4 | 1 |", "| 6 | 5 | 5 | 1 |"), ("| 6 | 5 | 4 | 1 |", "| 6 | 5 | 4 | 0 |"),
        ("| A. [One]", "| B. [One]"), ("## A. One", "## One"),
    ])
    func aFaultIsNoticed(right: String, wrong: String) {
        #expect(Self.small.contains(right))
        #expect(Self.problems(in: Self.small.replacing(right, with: wrong)) != [])
    }
}
