import Foundation
import Testing
import Wire

/// The runner itself: what it must not let pass.
@Suite struct VectorReaderRules {
    static let passing = """
        {"name": "a", "op": "o", "inputs": {"x": 1}, "expected": {"ok": 1}, "reason": "r"}
        """

    @Test(arguments: [
        #"{"area": "a", "set": "s", "format": 2, "cases": []}"#,
        #"{"area": "a", "set": "s", "format": 1, "cases": [], "more": 1}"#,
        #"{"area": "a", "set": "s", "format": 1, "cases": [\#(passing), \#(passing)]}"#,
        file(passing.replacing(#""op""#, with: #""op2""#)),
        file(passing.replacing(#""reason""#, with: #""why": 1, "reason""#)),
        file(passing.replacing(#"{"ok": 1}"#, with: #"{"ok": 1, "error": "e"}"#)),
        file(passing.replacing(#"{"ok": 1}"#, with: #"{"good": 1}"#)),
        "", "[]", "{",
    ])
    func aFileThatIsNotOfTheSchemaIsAProblem(_ text: String) throws {
        let set = try read([text])
        #expect(set.areas.isEmpty)
        #expect(set.problems.count == 1)
    }

    @Test func filesOfOneAreaAreRunTogether() throws {
        let other = Self.file(Self.passing).replacing(#""area": "a""#, with: #""area": "b""#)
        let set = try read([Self.file(Self.passing), Self.file(Self.passing), other])
        #expect(set.problems.isEmpty)
        #expect(set.areas.map(\.name) == ["a", "b"])
        #expect(set.areas.map(\.cases.count) == [2, 1])
    }

    @Test func filesAndFoldersMayBeAddedAndMustExist() throws {
        let folder = try folder(of: [Self.file(Self.passing), Self.file(Self.passing)])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for more in [
            folder, "\(folder)/0.json:\(folder)/1.json", "\(folder)/0.json,\(folder)/1.json",
        ] {
            let set = VectorSet(ownFolder: "/nonexistent", more: more)
            #expect(set.problems.isEmpty)
            #expect(set.areas.map(\.cases.count) == [2])
        }
        for more in ["/nonexistent", "/nonexistent.json", "/proc/self/task"] {
            #expect(VectorSet(ownFolder: folder, more: more).problems.count == 1)
        }
    }

    @Test(arguments: [
        (#"{"ok": 1}"#, "", true), (#"{"ok": 2}"#, "", false), (#"{"error": "x"}"#, "", false),
        (#"{"ok": 2}"#, #""alsoAcceptable": [{"ok": 3}, {"ok": 1}],"#, true),
        (#"{"ok": 2}"#, #""alsoAcceptable": [{"error": "x"}],"#, false),
        (#"{"ok": 2}"#, #""normative": false,"#, false),
    ])
    func anAnswerHoldsOnlyWhereItIsAnExpectedOne(_ wanted: String, _ more: String, _ holds: Bool)
        throws
    {
        let vector = try one(expected: wanted, more: more)
        #expect((vector.fault(by: answering(.ok(.integer(1))), accepted: [:]) == nil) == holds)
    }

    @Test func onlyRefusalsThatMustBeToldApartAreToldApart() throws {
        let wrongCode = try one(expected: #"{"error": "invalidCode"}"#)
        let other = try one(expected: #"{"error": "malformed"}"#)
        #expect(wrongCode.fault(by: answering(.error(.invalidCode))) == nil)
        #expect(wrongCode.fault(by: answering(.error(.other))) != nil)
        #expect(other.fault(by: answering(.error(.invalidCode))) != nil)
        #expect(other.fault(by: answering(.error(.cooldown))) != nil)
        #expect(other.fault(by: answering(.error(.other))) == nil)
    }

    @Test func aDifferenceIsAcceptedOnlyWhereItIsListedRealAndNotNormative() throws {
        let listed = ["a:a": "a reason"]
        let free = try one(expected: #"{"ok": 2}"#, more: #""normative": false,"#)
        #expect(free.fault(by: answering(.ok(.integer(1))), accepted: listed) == nil)
        #expect(free.fault(by: answering(.ok(.integer(2))), accepted: listed) != nil)
        let normative = try one(expected: #"{"ok": 2}"#)
        #expect(normative.fault(by: answering(.ok(.integer(1))), accepted: listed) != nil)
    }

    @Test func anUnknownInputOrAThrownErrorFailsTheCase() throws {
        let vector = try one(expected: #"{"ok": 1}"#)
        #expect(vector.fault(by: Operation(inputs: []) { _ in .ok(.integer(1)) }) != nil)
        let throwing = Operation(inputs: ["x"]) { _ in throw VectorProblem("no") }
        #expect(vector.fault(by: throwing) != nil)
    }

    @Test(arguments: [
        ("9007199254740993", "9007199254740992", false),
        ("18446744073709551615", "18446744073709551614", false),
        ("18446744073709551615", "18446744073709551615", true),
        ("-1", "18446744073709551615", false),
        ("1.0000001", "1", true), ("1.1", "1", false), ("1", "true", false), ("0", "null", false),
        (#"{"a": null}"#, "{}", true), (#"{"a": 1}"#, "{}", false), (#"[1, 2]"#, "[2, 1]", false),
        (#""\u00e9""#, #""e\u0301""#, false),
        (#"{"a": 1, "b": [2]}"#, #"{"b": [2], "a": 1}"#, true),
    ])
    func valuesCompareExactlyButForFractions(_ left: String, _ right: String, _ same: Bool) throws {
        let values = try [left, right].map { try Value(JSONDocument(Array($0.utf8)).root) }
        #expect(values[0].matches(values[1]) == same)
        #expect(values[1].matches(values[0]) == same)
        let texts = [left, right].map { Value.string($0) }
        #expect(texts[0].matchesAsJSON(texts[1]) == same)
    }

    private static func file(_ vector: String) -> String {
        #"{"area": "a", "set": "s", "format": 1, "cases": [\#(vector)]}"#
    }

    private func one(expected: String, more: String = "") throws -> VectorCase {
        let text = Self.passing.replacing(#"{"ok": 1}"#, with: expected)
            .replacing(#""reason""#, with: #"\#(more) "reason""#)
        return try VectorCase(JSONDocument(Array(text.utf8)).object(), area: "a")
    }

    private func answering(_ outcome: Outcome) -> Operation {
        Operation(inputs: ["x"]) { _ in outcome }
    }

    private func read(_ texts: [String]) throws -> VectorSet {
        let folder = try folder(of: texts)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return VectorSet(ownFolder: folder, more: nil)
    }

    private func folder(of texts: [String]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (index, text) in texts.enumerated() {
            try Data(text.utf8).write(to: folder.appending(path: "\(index).json"))
        }
        return folder.path
    }
}
