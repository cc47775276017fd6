import Contracts
import Testing

/// `docs/protocol.md` describes the methods that exist, and no other, as the contracts have them.
@Suite struct MethodListRules {
    private static let path = "docs/protocol.md"

    @Test func everyMethodStandsInTheProtocolAsItIs() {
        #expect(Self.problems(in: Repository.text(of: Self.path)) == [])
    }

    @Test func everyMemberOfAMessageIsDescribed() {
        #expect(Self.memberProblems(in: Repository.text(of: Self.path)) == [])
    }

    @Test func everyContractIsLookedAt() {
        let declared = Contracts.declared(in: Contracts.sources.map(Repository.text))
        #expect(declared == Set(Contracts.lines.map(\.name)))
    }

    @Test(arguments: [
        ("### `authority.verify`", "### `authority.try`"),
        ("| change | app | yes | 1 | 0 |", "| change | app | yes | 2 | 0 |"),
        ("| fresh | app, backup-shares | yes | 0 | 1 |", "| fresh | app | yes | 0 | 1 |"),
        (
            "| fresh | credential-authority | no | 1 | 0 to 1 |",
            "| read | credential-authority | no | 1 | 0 to 1 |"
        ),
        ("| read | every peer | no | 0 | 0 |", "| read | every peer | yes | 0 | 0 |"),
    ])
    func aWrongMethodIsNoticed(right: String, wrong: String) {
        let text = Repository.text(of: Self.path)
        #expect(text.contains(right))
        #expect(Self.problems(in: text.replacing(right, with: wrong)) != [])
    }

    @Test func aMemberThatNobodyDescribedIsNoticed() {
        let text = Repository.text(of: Self.path)
        #expect(text.contains("| `failed_before` |"))
        let renamed = text.replacing("| `failed_before` |", with: "| `failed_earlier` |")
        #expect(Self.memberProblems(in: renamed).count == 2)
    }

    @Test func aMethodThatNobodyListedIsNoticed() {
        let source = #"public static var method: String { "vault.burn" }"#
        #expect(Contracts.declared(in: [source]) == ["vault.burn"])
    }

    private static func problems(in text: String) -> [String] {
        differences(documented: documented(in: text), actual: Contracts.lines, in: path)
    }

    /// The first table after a heading that names a method in code is what the method is.
    private static func documented(in text: String) -> [MethodLine] {
        text.split(separator: "\n### `").dropFirst().map { section in
            let name = String(section.prefix { $0 != "`" })
            let table = MarkdownTable.all(in: String(section), with: ["Kind", "Callers"]).first
            let row = table.flatMap { table in table.rows.first.map(table.named) } ?? [:]
            return MethodLine(
                name: name, kind: row["Kind"] ?? "", callers: row["Callers"] ?? "",
                token: row["Token"] ?? "", attachments: row["Attachments"] ?? "",
                replyAttachments: row["Reply attachments"] ?? "")
        }
    }

    private static func memberProblems(in text: String) -> [String] {
        let described = MarkdownTable.all(in: text, with: ["Member"])
            .flatMap { $0.column("Member") ?? [] }
        let actual = Contracts.members(in: Contracts.sources.map(Repository.text))
        return differences(
            documented: Array(Set(described)), actual: Array(actual), in: path)
    }
}
