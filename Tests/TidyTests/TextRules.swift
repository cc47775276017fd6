/// Rules that look at one line.
extension Rule {
    private static var lineLimit: Int { 100 }

    static var lineLength: Rule {
        Rule(
            "A line of code has at most \(lineLimit) columns.",
            brokenBy: .planted("Shared/A/B.swift", String(repeating: "x", count: lineLimit + 1))
        ) { tree in
            tree.files.filter(\.isCode).flatMap { file in
                file.lines.enumerated().compactMap { index, line in
                    guard line.utf8.count > lineLimit, line.count > lineLimit else { return nil }
                    return Finding(
                        path: file.path, line: index + 1, sentence: "\(line.count) columns")
                }
            }
        }
    }

    /// Each with what to do instead.
    ///
    /// They are put together here, so that this file may hold them.
    static var bannedWords: [Rule] {
        [
            banned("try" + "!", "handle the error"),
            banned("as" + "!", "use `as?` and handle nil"),
            banned("TO" + "DO", "do it, or write an issue"),
            banned("FIX" + "ME", "mend it, or write an issue"),
        ]
    }

    private static func banned(_ word: String, _ instead: String) -> Rule {
        Rule(
            "No Swift code says \(word).",
            brokenBy: .planted("Shared/A/B.swift", "let a = \(word) b")
        ) { tree in
            tree.swift.flatMap { file in file.findings(of: word, instead) }
        }
    }

    static var printing: Rule {
        Rule(
            "Only a program's Main prints.",
            brokenBy: .planted("Services/A/Core/B.swift", "    print(1)")
        ) { tree in
            tree.product.filter { !$0.path.contains("/Main/") }.flatMap { file in
                file.findings(of: "print(", "return it, or log it", unless: onlyEndsInPrint)
            }
        }
    }

    /// `fingerprint(` and the like.
    private static func onlyEndsInPrint(_ line: Substring) -> Bool {
        line.ranges(of: "print(").allSatisfy { range in
            line[..<range.lowerBound].last?.isLetter ?? false
        }
    }

    static var machinePaths: Rule {
        let homes = ["/work/", "/root/", "/home/", "/Users/", "/opt/swift"]
        return Rule(
            "No file names a place of one machine.",
            brokenBy: .planted("docs/a.md", "see /" + "home/somebody")
        ) { tree in
            tree.files.filter { $0.path != "Tests/TidyTests/TextRules.swift" }.flatMap { file in
                homes.flatMap { file.findings(of: $0, "names \($0)") }
            }
        }
    }

    /// In a trap such a return gives the status from before the trap, success for example.
    static var scriptReturns: Rule {
        Rule(
            "A script that returns for a failure says with which status.",
            brokenBy: .planted("deploy/parts/a.bash", "    test -e b || " + "return")
        ) { tree in
            tree.files.filter { $0.path.hasPrefix("deploy/") }.flatMap { file in
                file.findings(of: "|| " + "return", "give the status") { !$0.hasSuffix("return") }
            }
        }
    }

    static var topOfTree: Rule {
        let allowed: Set<String> = [
            "Package.swift", "README.md", "LICENSE", "CHANGELOG.md", ".ci", ".gitignore",
            ".swift-format", "Services", "Shared", "Tests", "deploy", "docs",
        ]
        return Rule(
            "The top of the tree holds what the architecture names.",
            brokenBy: SourceTree(files: [], top: ["Package.swift", "Utils"])
        ) { tree in
            tree.top.filter { !allowed.contains($0) }.map {
                Finding(path: $0, line: 1, sentence: "has no place at the top")
            }
        }
    }
}
