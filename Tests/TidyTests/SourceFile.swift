/// One text file of the tree.
struct SourceFile: Sendable {
    /// Where it lies, from the top of the tree.
    let path: String
    let lines: [Substring]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    var isSwift: Bool { path.hasSuffix(".swift") }

    /// Swift, or a script or settings file of deploy.
    var isCode: Bool { isSwift || path.hasPrefix("deploy/") && !path.hasSuffix(".md") }

    /// Whether a service or a library that a service may use is made of it.
    var isProduct: Bool { path.hasPrefix("Shared/") || path.hasPrefix("Services/") }

    /// The modules that it imports, each with its line number.
    var imports: [(module: String, line: Int)] {
        lines.enumerated().compactMap { index, line in
            let words = line.split(separator: " ")
            guard let keyword = words.prefix(3).firstIndex(of: "import"), line.first != " ",
                let name = words.dropFirst(keyword + 1).last
            else { return nil }
            return (String(name.prefix { $0 != "." }), index + 1)
        }
    }

    /// A finding for every line that holds a text.
    func findings(
        of text: String, _ sentence: String, unless isAllowed: (Substring) -> Bool = { _ in false }
    ) -> [Finding] {
        let wanted = Array(text.utf8)
        return lines.enumerated().compactMap { index, line in
            guard line.holds(wanted), !isAllowed(line) else { return nil }
            return Finding(path: path, line: index + 1, sentence: sentence)
        }
    }
}

/// A place where the tree breaks a rule.
struct Finding: Sendable, Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let sentence: String

    var description: String { "\(path):\(line): \(sentence)" }
}

extension Substring {
    /// Whether these bytes stand in it; plain, because a whole tree is read.
    func holds(_ wanted: [UInt8]) -> Bool {
        let bytes = utf8
        guard bytes.count >= wanted.count else { return false }
        var start = bytes.startIndex
        while let found = bytes[start...].firstIndex(of: wanted[0]) {
            if bytes[found...].starts(with: wanted) { return true }
            start = bytes.index(after: found)
        }
        return false
    }
}
