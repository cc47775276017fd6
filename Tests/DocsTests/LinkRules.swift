import Testing

/// Links within the documents lead somewhere.
@Suite struct LinkRules {
    @Test func thereAreDocuments() {
        #expect(Repository.documents.contains("README.md"))
        #expect(Repository.documents.count > 8)
    }

    @Test(arguments: Repository.documents)
    func everyLinkLeadsToAFileAndAHeadingThatExist(document: String) {
        #expect(Self.problems(in: Repository.text(of: document), at: document) == [])
    }

    @Test(arguments: [
        ("[a](no-such-file.md)", 1), ("[a](errors.md#no-such-heading)", 1),
        ("[a](errors.md)", 0), ("[a](../README.md)", 0), ("[a](#no-heading-of-this-text)", 1),
        ("## A heading: `code`\n[a](#a-heading-code)", 0), ("[a](https://zeromq.org)", 0),
        ("```\n[a](no-such-file.md)\n```", 0),
    ])
    func deadLinksAreNoticed(text: String, problems: Int) {
        #expect(Self.problems(in: text, at: "docs/planted.md").count == problems)
    }

    private static func problems(in text: String, at document: String) -> [String] {
        var problems: [String] = []
        for line in proseLines(of: text) {
            for match in line.matches(of: #/\]\(([^)\s]+)\)/#) {
                let link = String(match.1)
                guard !link.contains("://"), !link.hasPrefix("mailto:") else { continue }
                let parts = link.split(
                    separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let target = parts[0].isEmpty ? document : path(String(parts[0]), from: document)
                guard Repository.has(target) || parts[0].isEmpty else {
                    problems.append("\(document): \(link)")
                    continue
                }
                guard parts.count == 2 else { continue }
                let page = parts[0].isEmpty ? text : Repository.text(of: target)
                if !anchors(of: page).contains(String(parts[1])) {
                    problems.append("\(document): \(link)")
                }
            }
        }
        return problems
    }

    private static func path(_ link: String, from document: String) -> String {
        var parts = document.split(separator: "/").dropLast().map(String.init)
        for part in link.split(separator: "/").map(String.init) {
            if part == ".." {
                // A link out of the repository leads nowhere for whoever has only that.
                guard !parts.isEmpty else { return "outside" }
                parts.removeLast()
            } else if part != "." {
                parts.append(part)
            }
        }
        return parts.joined(separator: "/")
    }

    /// Headings in the form that Markdown viewers give them.
    private static func anchors(of text: String) -> Set<String> {
        Set(
            proseLines(of: text).filter { $0.hasPrefix("#") }.map { line in
                trimmed(line.drop { $0 == "#" }).lowercased().compactMap { letter in
                    switch letter {
                    case " ": "-"
                    case "-", "_": letter
                    default: letter.isLetter || letter.isNumber ? letter : nil
                    }
                }
            }.map { String($0) })
    }
}
