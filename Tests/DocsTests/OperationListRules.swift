import Testing

/// `docs/operations.md` lists the events that services log and the numbers that they count.
@Suite struct OperationListRules {
    private static let path = "docs/operations.md"

    @Test func everyEventOfTheLogIsListed() {
        #expect(
            Self.eventProblems(
                in: Repository.text(of: Self.path), sources: Repository.sources) == [])
    }

    @Test func everyNumberThatIsCountedIsListed() {
        #expect(
            Self.metricProblems(
                in: Repository.text(of: Self.path), sources: Repository.sources) == [])
    }

    @Test func aWrongEventIsNoticed() {
        let text = Repository.text(of: Self.path)
        let changed = text.replacing("| `serving` | info |", with: "| `serving` | warning |")
        #expect(changed != text)
        #expect(Self.eventProblems(in: changed, sources: Repository.sources).count == 2)
    }

    @Test func aWrongMetricIsNoticed() {
        let text = Repository.text(of: Self.path)
        let changed = text.replacing("`coffer_evaluations_total`", with: "`coffer_uses_total`")
        #expect(changed != text)
        #expect(Self.metricProblems(in: changed, sources: Repository.sources).count == 2)
    }

    private static func eventProblems(in text: String, sources: [String]) -> [String] {
        let call = #/log\.(info|warning|error)\(\s*"(\w+)"/#
        let logged = sources.map(Repository.text).flatMap { source in
            source.matches(of: call).map { "\($0.2), \($0.1)" }
        }
        let documented = MarkdownTable.all(in: text, with: ["Event", "Level"]).flatMap { table in
            table.rows.map(table.named).map { "\($0["Event"] ?? ""), \($0["Level"] ?? "")" }
        }
        return differences(documented: documented, actual: logged, in: path)
    }

    private static func metricProblems(in text: String, sources: [String]) -> [String] {
        let counter = #/metrics\.count\("(\w+)"\)/#
        let kept = #/Counter\(\s*"(\w+)"/#
        let gauge = #/Gauge\(\s*name: "(\w+)"/#
        let literal = #/# TYPE (coffer_\w+) /#
        var counted: [String] = []
        for source in sources.map(Repository.text) {
            counted += source.matches(of: counter).map { "coffer_\($0.1)_total" }
            counted += source.matches(of: kept).map { "coffer_\($0.1)_total" }
            counted += source.matches(of: gauge).map { "coffer_\($0.1)" }
            counted += source.matches(of: literal).map { String($0.1) }
        }
        let documented = MarkdownTable.all(in: text, with: ["Metric"])
            .flatMap { $0.column("Metric") ?? [] }
            .flatMap { $0.split(separator: ", ").map { $0.prefix { $0 != "{" } } }
            .map { String($0) }
        return differences(documented: documented, actual: counted, in: path)
    }
}
