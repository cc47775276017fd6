import Foundation

/// The modules of Package.swift and the arrows between them, as the package manager reads them.
struct Manifest: Sendable {
    struct Module: Sendable, Equatable {
        let name: String
        /// The folder, from the top of the tree.
        let path: String
        let isTest: Bool
        let isProgram: Bool
        let uses: Set<String>
    }

    let modules: [Module]

    init(modules: [Module]) { self.modules = modules }

    /// Asks `swift package`, with a folder of its own for what that makes.
    static func own() throws -> Manifest {
        let scratch = FileManager.default.temporaryDirectory
            .appending(path: "manifest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "swift", "package", "--package-path", SourceTree.root.path(), "--scratch-path",
            scratch.path(), "dump-package",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let package = try JSONDecoder().decode(Package.self, from: bytes)
        return Manifest(
            modules: package.targets.map { target in
                Module(
                    name: target.name, path: target.path ?? "", isTest: target.type == "test",
                    isProgram: target.type == "executable",
                    uses: Set(target.dependencies.compactMap { $0.target?.first ?? nil }))
            })
    }

    /// What the manifest says and the sources do not do.
    ///
    /// A program's Main only puts parts together, and what every service is built from stands in
    /// one list for all of them: both may name more than they import.
    func unusedArrows(in tree: SourceTree) -> [Finding] {
        let names = Set(modules.map(\.name))
        return modules.filter { !$0.isTest && !$0.isProgram }.flatMap { module in
            let imported = Set(
                tree.swift.filter { $0.path.hasPrefix(module.path + "/") }
                    .flatMap { $0.imports.map(\.module) })
            let optional = module.path.hasPrefix("Services/") ? serviceParts : []
            return module.uses.intersection(names).subtracting(imported).subtracting(optional)
                .sorted().map {
                    Finding(
                        path: "Package.swift", line: 1,
                        sentence: "\(module.name) may use \($0) and does not")
                }
        }
    }

    /// The modules that every service's core may use.
    private var serviceParts: Set<String> {
        let cores = modules.filter { $0.path.hasPrefix("Services/") && $0.name.hasSuffix("Core") }
            .filter { $0.uses.contains("Serving") }.map(\.uses)
        guard let first = cores.first else { return [] }
        return cores.dropFirst().reduce(first) { $0.intersection($1) }
    }

    private struct Package: Decodable {
        struct Target: Decodable {
            let name: String
            let type: String
            let path: String?
            let dependencies: [Dependency]
        }
        struct Dependency: Decodable {
            /// Name and condition.
            let target: [String?]?
        }

        let targets: [Target]
    }
}
