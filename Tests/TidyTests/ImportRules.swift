/// Rules about who may import what.
extension Rule {
    static var foundation: Rule {
        Rule(
            "Neither shared libraries nor services' cores and contracts import Foundation.",
            brokenBy: .planted("Shared/A/B.swift", "internal import FoundationEssentials")
        ) { tree in
            tree.product.filter { !$0.path.contains("/Main/") }.flatMap { file in
                file.imports.filter { $0.module.hasPrefix("Foundation") }.map {
                    Finding(path: file.path, line: $0.line, sentence: "imports \($0.module)")
                }
            }
        }
    }

    /// What is below Shared/System are the C libraries.
    static var cModules: Rule {
        Rule(
            "Each C library is imported by exactly one Swift module.",
            brokenBy: SourceTree(files: [
                SourceFile(path: "Shared/System/CLib/module.modulemap", text: ""),
                SourceFile(path: "Shared/A/A.swift", text: "internal import CLib"),
                SourceFile(path: "Shared/B/B.swift", text: "import CLib"),
            ])
        ) { tree in
            let maps = tree.files.filter { $0.path.hasSuffix("/module.modulemap") }
            return maps.compactMap { map in
                let name = map.path.split(separator: "/").dropLast().last.map(String.init) ?? ""
                let users = tree.product.filter { $0.imports.contains { $0.module == name } }
                let modules = Set(users.map(\.module))
                guard modules.count != 1 else { return nil }
                return Finding(
                    path: map.path, line: 1,
                    sentence: "is imported by \(modules.sorted().joined(separator: ", "))")
            }
        }
    }
}

extension SourceFile {
    /// The folder of its module: `Shared/Bus`, `Services/Vault/Core`.
    fileprivate var module: String {
        path.split(separator: "/").prefix(path.hasPrefix("Services/") ? 3 : 2)
            .joined(separator: "/")
    }
}
