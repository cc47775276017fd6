import Testing

/// `docs/architecture.md` lists the modules of the manifest with what they import.
@Suite struct ModuleListRules {
    private static let path = "docs/architecture.md"

    @Test func everyModuleIsListedWithItsImports() {
        #expect(
            Self.problems(
                in: Repository.text(of: Self.path), manifest: Repository.text(of: "Package.swift"))
                == [])
    }

    @Test(arguments: [
        ("| `Wire` | `Secrets` |", "| `Wire` | `Secrets`, `Crypto` |"),
        ("\n| `Clocks` |", "\n| `Watches` |"),
    ])
    func aWrongModuleIsNoticed(right: String, wrong: String) {
        let text = Repository.text(of: Self.path)
        #expect(text.contains(right))
        let problems = Self.problems(
            in: text.replacing(right, with: wrong), manifest: Repository.text(of: "Package.swift"))
        #expect(problems.count == 2)
    }

    @Test func allFormsOfTheManifestAreRead() {
        let manifest = """
            let serviceParts = ["Wire", "Loop"]
            shared("One"),
            shared(
                "Two", uses: ["One", "CLib"]),
            contract("A"),
            contract("B", uses: ["One"]),
            service("A", program: "a", uses: serviceParts),
            service("B", program: "b", calls: ["A"], uses: serviceParts + ["Two"]),
            """
        #expect(
            Set(Self.declared(in: manifest)) == [
                "One imports nothing", "Two imports CLib, One", "AMessages imports Wire",
                "BMessages imports One", "ACore imports AMessages, Loop, Wire",
                "BCore imports AMessages, BMessages, Loop, Two, Wire",
            ])
    }

    private static func problems(in text: String, manifest: String) -> [String] {
        let documented = MarkdownTable.all(in: text, with: ["Module", "Imports"])
            .flatMap { table in
                table.rows.map(table.named).map { row in
                    line(
                        row["Module"] ?? "",
                        (row["Imports"] ?? "").split(separator: ",").map(trimmed))
                }
            }
        return differences(documented: documented, actual: declared(in: manifest), in: path)
    }

    private static func line(_ module: String, _ imports: [String]) -> String {
        let names = Set(imports.filter { !$0.isEmpty }).sorted()
        return "\(module) imports \(names.isEmpty ? "nothing" : names.joined(separator: ", "))"
    }

    // MARK: The manifest

    private static func declared(in manifest: String) -> [String] {
        let parts =
            manifest.firstMatch(of: #/let serviceParts = \[([^\]]*)\]/#).map { names($0.1) } ?? []
        let declaration =
            #/(?m)^\s*(?:\+ )?(shared|contract|service)\(\s*"(\w+)"([^;]*?)\)(?:,|\n|$)/#
        return manifest.matches(of: declaration).map { match in
            let name = String(match.2)
            let uses = list("uses", in: match.3)
            switch match.1 {
            case "contract": return line("\(name)Messages", uses ?? ["Wire"])
            case "service":
                let contracts = ([name] + (list("calls", in: match.3) ?? [])).map {
                    "\($0)Messages"
                }
                return line("\(name)Core", contracts + parts + (uses ?? []))
            default: return line(name, uses ?? [])
            }
        }
    }

    /// The names in the brackets after a label; nil where there are none.
    private static func list(_ label: String, in arguments: Substring) -> [String]? {
        guard let start = arguments.firstRange(of: "\(label):") else { return nil }
        let rest = arguments[start.upperBound...]
        guard let open = rest.firstIndex(of: "["), let close = rest[open...].firstIndex(of: "]")
        else { return nil }
        return names(rest[open..<close])
    }

    private static func names(_ text: Substring) -> [String] {
        text.matches(of: #/"(\w+)"/#).map { String($0.1) }
    }
}
