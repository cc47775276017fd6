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
            .target(
                name: "CCore", dependencies: on(["AMessages"] + serviceParts), path: "C"),
            .executableTarget(name: "c", dependencies: on(["CCore"])),
            """
        #expect(
            Set(Self.declared(in: manifest)) == [
                "One imports nothing", "Two imports CLib, One", "AMessages imports Wire",
                "BMessages imports One", "ACore imports AMessages, Loop, Wire",
                "BCore imports AMessages, BMessages, Loop, Two, Wire",
                "CCore imports AMessages, Loop, Wire",
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
        let lists = Lists(manifest)
        let declaration =
            #/(?m)^\s*(?:\+ )?(shared|contract|service)\(\s*"(\w+)"([^;]*?)\)(?:,|\n|$)/#
        let target = #/\.target\(\s*name: "(\w+)",\s*dependencies: on\(([^)]*)\)/#
        let lines = manifest.matches(of: declaration).map { match in
            let name = String(match.2)
            let uses = lists.names(after: "uses:", in: match.3)
            switch match.1 {
            case "contract": return line("\(name)Messages", uses ?? ["Wire"])
            case "service":
                let called = lists.names(after: "calls:", in: match.3) ?? []
                let contracts = ([name] + called).map { "\($0)Messages" }
                return line("\(name)Core", contracts + (uses ?? []))
            default: return line(name, uses ?? [])
            }
        }
        return lines
            + manifest.matches(of: target).map { match in
                line(String(match.1), lists.names(in: match.2))
            }
    }

    /// The lists of module names that the manifest gives a name to.
    private struct Lists {
        private let named: [String: [String]]

        init(_ manifest: String) {
            let definition = #/let (\w+) = \[([^\]]*)\]/#
            named = Dictionary(
                manifest.matches(of: definition).map { (String($0.1), Self.quoted($0.2)) }
            ) { $1 }
        }

        /// The names of a list that is written out, has a name, or is a sum of such.
        func names(in expression: Substring) -> [String] {
            Self.quoted(expression)
                + named.filter { list in
                    expression.split { !$0.isLetter }.contains(Substring(list.key))
                }.flatMap(\.value)
        }

        /// Those of the argument with this label; nil where there is none.
        func names(after label: String, in arguments: Substring) -> [String]? {
            guard let start = arguments.firstRange(of: label) else { return nil }
            let rest = arguments[start.upperBound...]
            let end = rest.firstRange(of: #/,\s*\w+:/#)?.lowerBound ?? rest.endIndex
            return names(in: rest[..<end])
        }

        private static func quoted(_ text: Substring) -> [String] {
            text.matches(of: #/"(\w+)"/#).map { String($0.1) }
        }
    }
}
