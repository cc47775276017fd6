import Foundation
import Home
import Testing
import Wire

@Suite("The tree")
struct TidyRules {
    @Test("keeps every rule", arguments: Rule.all)
    func keeps(_ rule: Rule) {
        let findings = rule.findings(.own)
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test("would be found out if it broke one", arguments: Rule.all)
    func canBreak(_ rule: Rule) {
        #expect(!rule.findings(rule.planted).isEmpty)
    }

    @Test("is read whole")
    func isRead() {
        #expect(SourceTree.own.product.count > 100)
        #expect(SourceTree.own.file("Package.swift") != nil)
        #expect(SourceTree.own.file("deploy/launch") != nil)
    }

    @Test("does not flag what only looks like a breach")
    func harmless() {
        let tree = SourceTree.planted(
            "Shared/A/B.swift", "let a = fingerprint(b)\nprotocol P {\n    func f()\n}\n")
        #expect(Rule.all.flatMap { $0.findings(tree) } == [])
    }

    @Test("has no arrow in Package.swift that no import uses")
    func arrows() throws {
        let manifest = try Manifest.own()
        #expect(manifest.modules.count > 20)
        #expect(manifest.unusedArrows(in: .own) == [])
    }

    @Test("would be found out with an arrow that no import uses")
    func brokenArrow() {
        let manifest = Manifest(modules: [
            .init(name: "A", path: "Shared/A", isTest: false, isProgram: false, uses: ["B"]),
            .init(name: "B", path: "Shared/B", isTest: false, isProgram: false, uses: []),
        ])
        let tree = SourceTree.planted("Shared/A/A.swift", "import C")
        #expect(manifest.unusedArrows(in: tree).count == 1)
    }
}

@Suite("The example of a settings file")
struct SettingsExampleRules {
    private let text: String
    private let code: SourceFile

    init() throws {
        let file = try #require(SourceTree.own.file("deploy/coffer.conf.example"))
        text = file.lines.joined(separator: "\n")
        code = try #require(SourceTree.own.file("Shared/Home/Settings.swift"))
    }

    @Test("lists every setting that the code reads, and no other")
    func complete() throws {
        let services = ServiceName.allCases.map { "endpoint.\($0.text)" }
        let known = SettingsExample.namesInCode(code)
        #expect(known.contains("endpoint.") && known.count > 5)
        let wanted = known.subtracting(["endpoint."]).union(services)
        let names = try SettingsExample(text: text).names
        #expect(Set(names) == wanted)
        #expect(names.count == wanted.count)
    }

    @Test("shows the defaults")
    func defaults() throws {
        let example = try SettingsExample(text: text)
        var settings = example.settings
        // An endpoint has no default of its own: the example shows the socket that is used.
        for service in ServiceName.allCases {
            #expect(settings.endpoint(of: service) == example.defaults.endpoint(of: service))
        }
        settings.endpoints = [:]
        #expect(settings == example.defaults)
    }

    @Test("would be found out with another default")
    func broken() throws {
        let changed = text.replacingOccurrences(
            of: "kdf_target_ms = 350", with: "kdf_target_ms = 351")
        let example = try SettingsExample(text: changed)
        #expect(example.settings != example.defaults)
    }
}
