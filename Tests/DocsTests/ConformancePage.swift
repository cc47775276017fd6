/// `docs/conformance.md`, read for what can be checked of it.
///
/// A section's heading begins with its letter. Its sentences are called by the letter and a number;
/// each stands in the section's rows or in the list of those that are no rule.
struct ConformancePage {
    /// What stands where a test's name should.
    private static let notBuilt = "not built"

    private struct Row {
        let sentences: [String]
        let rule: String
        let places: [String]
        /// Nil where nothing is built that a test could try.
        let test: String?
    }

    private let counts: [[String: String]]
    private let noRules: [String]
    private let sections: [(letter: String, rows: [Row])]

    init(_ text: String) {
        counts = MarkdownTable.all(in: text, with: ["Section", "Rules", "Rows", "Not built"])
            .flatMap { table in table.rows.map(table.named) }
        noRules = MarkdownTable.all(in: text, with: ["Sentences", "Why"])
            .flatMap { $0.column("Sentences") ?? [] }.flatMap(Self.sentences)
        sections = text.split(separator: "\n## ").compactMap { part in
            guard let heading = part.prefixMatch(of: #/([A-Z])\. /#) else { return nil }
            let tables = MarkdownTable.all(
                in: String(part), with: ["Sentences", "Rule", "Where", "Test"])
            return (String(heading.1), tables.flatMap(\.rows).map(Self.row))
        }
    }

    private static func row(_ cells: [String]) -> Row {
        guard cells.count == 4 else {
            return Row(sentences: [], rule: cells.joined(), places: [], test: "")
        }
        return Row(
            sentences: sentences(cells[0]), rule: cells[1],
            places: cells[2].matches(of: #/`([^`]+)`/#).map { String($0.1) },
            test: cells[3] == notBuilt ? nil : test(cells[3]))
    }

    /// One name, in code; anything else is the name of no test.
    private static func test(_ cell: String) -> String {
        cell.wholeMatch(of: #/`([^`]+)`/#).map { String($0.1) } ?? "\(cell), which is no code"
    }

    /// `A1, A3 to A5` as four names.
    private static func sentences(_ cell: String) -> [String] {
        cell.split(separator: ",").flatMap { part -> [String] in
            let text = trimmed(part)
            guard let range = text.wholeMatch(of: #/([A-Z])(\d+) to \1(\d+)/#),
                let first = Int(range.2), let last = Int(range.3), first <= last
            else { return [text] }
            return (first...last).map { "\(range.1)\($0)" }
        }
    }

    // MARK: Problems

    func problems(
        tests: TestNames = .own, hasFile: (String) -> Bool = Repository.has
    ) -> [String] {
        var problems = sections.flatMap { section in
            section.rows.flatMap { problem(of: $0, in: section.letter, tests, hasFile) }
        }
        problems += countProblems + sentenceProblems
        if sections.isEmpty { problems.append("There is no section.") }
        return problems
    }

    private func problem(
        of row: Row, in section: String, _ tests: TestNames, _ hasFile: (String) -> Bool
    ) -> [String] {
        let name = row.sentences.joined(separator: ", ")
        var problems = row.places.filter { !hasFile($0) }.map { "\(name): no file \($0)" }
        if row.rule.isEmpty { problems.append("\(name): no rule") }
        if row.sentences.isEmpty || !row.sentences.allSatisfy({ $0.hasPrefix(section) }) {
            problems.append("\(name): not of section \(section)")
        }
        guard let test = row.test else { return problems }
        if row.places.isEmpty { problems.append("\(name): no place") }
        let count = tests.count(of: test)
        if count != 1 { problems.append("\(name): \(count) tests are called \(test)") }
        return problems
    }

    /// A rule that several sentences say is one row and counts with each of them.
    private var countProblems: [String] {
        var problems: [String] = []
        for section in sections {
            let told = counts.first { $0["Section"]?.hasPrefix("\(section.letter). ") == true }
            let counted = [
                "Rules": section.rows.reduce(0) { $0 + $1.sentences.count },
                "Rows": section.rows.count,
                "Not built": section.rows.count { $0.test == nil },
            ]
            for (column, count) in counted.sorted(by: { $0.key < $1.key })
            where told?[column] != String(count) {
                problems.append(
                    "\(section.letter) has \(count) in \(column), not \(told?[column] ?? "none")")
            }
        }
        if counts.count != sections.count { problems.append("The counts are of other sections.") }
        return problems
    }

    /// Each sentence is spoken of, and none both as a rule and as none.
    private var sentenceProblems: [String] {
        var problems: [String] = []
        for section in sections {
            let told = counts.first { $0["Section"]?.hasPrefix("\(section.letter). ") == true }
            let count = Int(told?["Sentences"] ?? "") ?? 0
            let all = Set((1...max(1, count)).map { "\(section.letter)\($0)" })
            let ruled = Set(section.rows.flatMap(\.sentences))
            let others = noRules.filter { $0.hasPrefix(section.letter) }
            problems += all.subtracting(ruled.union(others)).map { "Nothing is said of \($0)." }
            problems += ruled.union(others).subtracting(all).map { "There is no sentence \($0)." }
            problems += ruled.intersection(others).map { "\($0) is a rule and is none." }
            if Set(others).count != others.count {
                problems.append("A sentence of \(section.letter) is twice no rule.")
            }
        }
        return problems.sorted()
    }
}
