/// The tests of this tree by the names that a page calls them: a function's name, a suite's and a
/// function's where several tests have that name, or the row of a script.
struct TestNames {
    /// How many tests a name stands for.
    private var counts: [String: Int] = [:]

    /// All of the tree.
    static let own: TestNames = {
        var names = TestNames()
        for path in Repository.files(in: "Tests", endings: ["swift"]) {
            names.take(swift: Repository.text(of: path))
        }
        for path in Repository.files(in: "Tests/LimitConformance", endings: ["py"]) {
            names.take(rows: Repository.text(of: path))
        }
        return names
    }()

    /// - Returns: 0 for what is the name of no test.
    func count(of name: String) -> Int { counts[name] ?? 0 }

    /// Takes the tests of a file: a function counts where `@Test` stands before it.
    mutating func take(swift source: String) {
        var suites: Set<String> = []
        var functions: [String] = []
        var isMarked = false
        for line in source.split(separator: "\n").map(trimmed) where !line.hasPrefix("//") {
            if let type = line.firstMatch(of: #/^(?:@?\w+ )*(?:struct|class|enum|extension) (\w+)/#)
            {
                suites.insert(String(type.1))
            }
            if line.hasPrefix("@Test") { isMarked = true }
            if isMarked, let function = line.firstMatch(of: #/\bfunc (\w+)/#) {
                functions.append(String(function.1))
                isMarked = false
            }
        }
        for function in functions {
            counts[function, default: 0] += 1
            for suite in suites { counts["\(suite)/\(function)", default: 0] += 1 }
        }
    }

    /// Takes the rows of a script of limit conformance, which stand in its list by their names.
    mutating func take(rows source: String) {
        for row in source.matches(of: #/\bRow\("([^"]+)",/#) { counts[String(row.1)] = 1 }
        guard let list = source.firstMatch(of: #/\nCHECKS = \(([^)]*)\)/#) else { return }
        for name in list.1.split(separator: ",").map(trimmed) where !name.isEmpty {
            counts[name] = 1
        }
    }
}
