import Testing

/// The transcripts are of the demo as it is.
@Suite struct TranscriptRules {
    private static let page = "docs/transcript.md"
    private static let script = "deploy/parts/demo.bash"

    @Test func theTranscriptHasEveryStepOfTheDemo() {
        let text = Repository.text(of: Self.page)
        #expect(Self.shown(in: text) == Self.steps(of: Repository.text(of: Self.script)))
        #expect(text.contains("\nAll steps passed."))
    }

    @Test func theExcerptIsOfTheTranscript() {
        let full = Set(Self.lines(of: Repository.text(of: Self.page)))
        let excerpt = Self.lines(of: Repository.text(of: "README.md"))
        #expect(excerpt.count > 5)
        #expect(excerpt.filter { !full.contains($0) } == [])
    }

    @Test func anotherStepIsNoticed() {
        let script = """
            readonly STEPS=(
                "start       |Services start."
                "wait  wait  |A wait ends."
            )
            """
        #expect(Self.steps(of: script) == ["1. Services start.", "2. A wait ends."])
        #expect(Self.shown(in: "```\n1. Services start.\n   ok\n\n2. It ends.\n```").count == 2)
        #expect(Self.shown(in: "```\n1. Services start.\n```") != Self.steps(of: script))
    }

    /// The titles of the demo's steps, numbered as it prints them.
    private static func steps(of script: String) -> [String] {
        guard let start = script.firstRange(of: "STEPS=(\n"),
            let end = script[start.upperBound...].firstRange(of: "\n)")
        else { return [] }
        return script[start.upperBound..<end.lowerBound].matches(of: #/\|([^"]+)"/#)
            .enumerated().map { "\($0.offset + 1). \($0.element.1)" }
    }

    private static func shown(in text: String) -> [String] {
        lines(of: text).filter { $0.first?.isNumber == true && $0.contains(". ") }
    }

    /// The lines of blocks that have no language: what a program printed.
    private static func lines(of text: String) -> [String] {
        var lines: [String] = []
        var fence: Substring?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                fence = fence == nil ? line : nil
            } else if fence == "```", !line.isEmpty {
                lines.append(String(line))
            }
        }
        return lines
    }
}
