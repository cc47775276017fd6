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

    /// Takes the tests of a file: a function counts where `@Test` begins a line before it.
    mutating func take(swift source: String) {
        var suites: Set<String> = []
        var functions: [String] = []
        var isMarked = false
        // Lines by their bytes: the tree has a hundred thousand, and most say nothing here.
        for line in source.utf8.split(separator: UInt8(ascii: "\n")) {
            let line = line.drop { $0 == UInt8(ascii: " ") }
            if line.starts(with: "//".utf8) { continue }
            if line.starts(with: "@Test".utf8) { isMarked = true }
            var words = line.split { !Self.isLetter($0) }[...]
            while let word = words.popFirst(), let name = words.first {
                if isMarked, word.elementsEqual("func".utf8) {
                    functions.append(String(decoding: name, as: UTF8.self))
                    isMarked = false
                } else if Self.types.contains(where: { word.elementsEqual($0.utf8) }) {
                    suites.insert(String(decoding: name, as: UTF8.self))
                }
            }
        }
        for function in functions {
            counts[function, default: 0] += 1
            for suite in suites { counts["\(suite)/\(function)", default: 0] += 1 }
        }
    }

    private static let types = ["struct", "class", "enum", "extension"]

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x80...: true
        default: false
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
