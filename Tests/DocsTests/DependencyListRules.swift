import Testing

/// `docs/dependencies.md` lists the C libraries of the manifest and the packages that the launcher
/// installs, and no other.
@Suite struct DependencyListRules {
    private static let path = "docs/dependencies.md"
    private static let packagesPath = "deploy/packages"

    @Test func everyLibraryIsListedWithItsPackage() {
        #expect(
            Self.libraryProblems(
                in: Repository.text(of: Self.path), manifest: Repository.text(of: "Package.swift"))
                == [])
    }

    @Test(.enabled(if: Repository.has(packagesPath)))
    func everyPackageThatIsInstalledIsListed() {
        #expect(
            Self.packageProblems(
                in: Repository.text(of: Self.path), list: Repository.text(of: Self.packagesPath))
                == [])
    }

    @Test func aPackageThatNobodyListedIsNoticed() {
        let text = """
            | Target | Package |
            | --- | --- |
            | `CZMQ` | `libzmq3-dev` |

            | Package | When |
            | --- | --- |
            | `runit` | run |
            """
        let list = "# Packages.\nlibzmq3-dev  build  the bus\n\nrunit  run  supervision\n"
        #expect(Self.packageProblems(in: text, list: list) == [])
        #expect(Self.packageProblems(in: text, list: list + "extra  test  a thing\n").count == 1)
        #expect(Self.packageProblems(in: text, list: "runit  build  early\n").count == 3)
    }

    @Test func everyLibrarySaysWhatForAndUnderWhichLicence() {
        for table in Self.tables(in: Repository.text(of: Self.path)) {
            for row in table.rows.map(table.named) {
                #expect(row["Job"]?.isEmpty == false, "\(row)")
                #expect(row["Licence"]?.isEmpty == false, "\(row)")
            }
        }
    }

    @Test(arguments: [
        ("| `CZMQ` | `libzmq3-dev` |", "| `CZMQ` | `libzmq5-dev` |"),
        ("| `CNettle` |", "| `CNettles` |"),
    ])
    func aWrongLibraryIsNoticed(right: String, wrong: String) {
        let text = Repository.text(of: Self.path)
        #expect(text.contains(right))
        let problems = Self.libraryProblems(
            in: text.replacing(right, with: wrong), manifest: Repository.text(of: "Package.swift"))
        #expect(problems.count == 2)
    }

    @Test func aLibraryThatNobodyListedIsNoticed() {
        let manifest =
            Repository.text(of: "Package.swift") + "\nsystem(\"CExtra\", apt: \"extra-dev\"),"
        #expect(
            Self.libraryProblems(in: Repository.text(of: Self.path), manifest: manifest)
                == ["\(Self.path) lacks: CExtra from extra-dev"])
    }

    private static func tables(in text: String) -> [MarkdownTable] {
        MarkdownTable.all(in: text, with: ["Target", "Package"])
    }

    private static func libraryProblems(in text: String, manifest: String) -> [String] {
        let declaration = #/system\("(\w+)", apt: "([a-z0-9.+-]+)"(?:, pkgConfig: "[^"]+")?\)/#
        let declared = manifest.matches(of: declaration).map { "\($0.1) from \($0.2)" }
        let documented = tables(in: text).flatMap { table in
            table.rows.map(table.named).map { row in
                "\(row["Target"] ?? "") from \(row["Package"] ?? "")"
            }
        }
        return differences(documented: documented, actual: declared, in: path)
    }

    /// Every package with its time: C libraries are needed to build.
    private static func packageProblems(in text: String, list: String) -> [String] {
        let installed = list.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            line.split(separator: " ").prefix(2).joined(separator: " ")
        }
        let libraries = tables(in: text).flatMap { $0.column("Package") ?? [] }
            .map { "\($0) build" }
        let tools = MarkdownTable.all(in: text, with: ["Package", "When"]).flatMap { table in
            table.rows.map(table.named).map { "\($0["Package"] ?? "") \($0["When"] ?? "")" }
        }
        return differences(documented: libraries + tools, actual: installed, in: path)
    }
}
