/// The rule that a function can be seen at one glance.
///
/// It reads the layout that `swift format` makes: a function ends at the first line that closes a
/// brace at its own indentation.
extension Rule {
    private static var functionLimit: Int { 70 }

    static var functionLength: Rule {
        let body = String(repeating: "        work()\n", count: functionLimit - 1)
        return Rule(
            "A function has at most \(functionLimit) lines.",
            brokenBy: .planted("Shared/A/B.swift", "    func long() {\n\(body)    }\n")
        ) { tree in
            tree.swift.flatMap { file in
                file.lines.indices.compactMap { index in
                    let count = functionLines(in: file.lines, from: index)
                    guard count > functionLimit else { return nil }
                    return Finding(path: file.path, line: index + 1, sentence: "\(count) lines")
                }
            }
        }
    }

    /// The lines of the function that begins at an index; 0 where none does.
    private static func functionLines(in lines: [Substring], from index: Int) -> Int {
        let line = lines[index]
        guard beginsFunction(line), !line.hasSuffix("}") else { return 0 }
        let closing = line.prefix { $0 == " " } + "}"
        for end in index..<lines.count {
            if lines[end].hasPrefix(closing) { return end - index + 1 }
            // A requirement of a protocol has no body.
            if !lines[end].isEmpty, !lines[end].hasPrefix(closing.dropLast()) { return 0 }
        }
        return 0
    }

    private static func beginsFunction(_ line: Substring) -> Bool {
        line.prefix { $0 != "/" }.split(separator: " ").contains {
            $0 == "func" || $0 == "deinit" || $0.hasPrefix("init(") || $0.hasPrefix("init?(")
                || $0.hasPrefix("init<")
        }
    }
}
