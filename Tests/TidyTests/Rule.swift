/// A rule of the tree, with a small tree that breaks it: a check that cannot fail checks nothing.
struct Rule: Sendable, CustomStringConvertible {
    let description: String
    let planted: SourceTree
    let findings: @Sendable (SourceTree) -> [Finding]

    init(
        _ description: String, brokenBy planted: SourceTree,
        findings: @escaping @Sendable (SourceTree) -> [Finding]
    ) {
        self.description = description
        self.planted = planted
        self.findings = findings
    }

    static let all: [Rule] =
        [lineLength, functionLength, topOfTree, machinePaths, printing, foundation, cModules]
        + [scriptReturns]
        + bannedWords
}

extension SourceTree {
    /// One file, for a planted control.
    static func planted(_ path: String, _ text: String) -> SourceTree {
        SourceTree(files: [SourceFile(path: path, text: text)])
    }
}
