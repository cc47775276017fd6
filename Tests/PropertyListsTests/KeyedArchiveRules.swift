import PropertyLists
import Secrets
import TestKit
import Testing

@Suite("A keyed archive")
struct KeyedArchiveRules {
    typealias Entries = [(String, ListValue)]

    @Test(
        "of an array of strings gives them in their order",
        arguments: [
            [], ["f78c9465937f02a9"], ["a", "b", "a"], ["", "ü", "\u{1F511}", "e\u{301}"],
            (0..<300).map { "wallet\($0)" },
        ])
    func strings(_ strings: [String]) throws {
        for isMutable in [false, true] {
            for mutableStrings in [false, true] {
                let archive = LegacyKeychainFile.archive(
                    of: strings, isMutable: isMutable, mutableStrings: mutableStrings)
                let read = try KeyedArchive.strings(in: archive)
                #expect(read.map { Array($0.utf8) } == strings.map { Array($0.utf8) })
                let secret = SecretBytes(copying: archive)
                #expect(try KeyedArchive.strings(in: secret) == read)
            }
        }
    }

    @Test("may be of an array that names one string twice, and hold more than is read")
    func harmless() throws {
        let twice = changed { objects in
            objects[1] = .dictionary([
                ("NS.objects", .array([.uid(2), .uid(2)])), ("$class", .uid(3)),
                ("more", .bool(true)),
            ])
        }
        #expect(try KeyedArchive.strings(in: twice) == ["one", "one"])
        let wide = changed { objects in objects[2] = .wideText("one") }
        #expect(try KeyedArchive.strings(in: wide) == ["one"])
    }

    /// What each case makes of the archive of ["one"].
    static let refused: [(String, PropertyListError, @Sendable (inout [ListValue]) -> Void)] = [
        ("a null element", .unexpected, { $0[1] = array([.uid(0)]) }),
        ("an element beyond the objects", .unexpected, { $0[1] = array([.uid(99)]) }),
        ("an element that is no UID", .unexpected, { $0[1] = array([.text("one")]) }),
        ("an array that holds itself", .unexpected, { $0[1] = array([.uid(1)]) }),
        ("a number", .unexpected, { $0[2] = .integer(1) }),
        ("data", .unexpected, { $0[2] = .data([0x61]) }),
        (
            "a string without a class", .unexpected,
            {
                $0[2] = .dictionary([("NS.string", .text("one"))])
            }
        ),
        (
            "a string of a foreign class", .unexpected,
            {
                $0[2] = .dictionary([("NS.string", .text("one")), ("$class", .uid(3))])
            }
        ),
        (
            "a mutable string without a text", .unexpected,
            {
                $0[2] = .dictionary([("$class", .uid(4))])
            }
        ),
        (
            "a mutable string of data", .unexpected,
            {
                $0[2] = .dictionary([("$class", .uid(4)), ("NS.string", .data([0x61]))])
            }
        ),
        ("no list of elements", .unexpected, { $0[1] = .dictionary([("$class", .uid(3))]) }),
        (
            "a list of elements that is none", .unexpected,
            {
                $0[1] = .dictionary([("$class", .uid(3)), ("NS.objects", .uid(2))])
            }
        ),
        (
            "two lists of elements", .malformed,
            {
                $0[1] = .dictionary([
                    ("$class", .uid(3)), ("NS.objects", .array([])), ("NS.objects", .array([])),
                ])
            }
        ),
        ("no class", .unexpected, { $0[1] = .dictionary([("NS.objects", .array([.uid(2)]))]) }),
        ("a class of null", .unexpected, { $0[1] = array([.uid(2)], described: 0) }),
        ("a class that is itself", .unexpected, { $0[1] = array([.uid(2)], described: 1) }),
        ("a class that is a string", .unexpected, { $0[1] = array([.uid(2)], described: 2) }),
        ("a set", .unexpected, { $0[3] = description("NSSet") }),
        ("a subclass", .unexpected, { $0[3] = description("MyArray", "NSArray") }),
        (
            "a class without superclasses", .unexpected,
            {
                $0[3] = .dictionary([("$classname", .text("NSArray"))])
            }
        ),
        (
            "a class that its list does not begin with", .unexpected,
            {
                $0[3] = .dictionary([
                    ("$classname", .text("NSArray")), ("$classes", .array([.text("NSObject")])),
                ])
            }
        ),
        (
            "a class with an empty list", .unexpected,
            {
                $0[3] = .dictionary([("$classname", .text("NSArray")), ("$classes", .array([]))])
            }
        ),
        ("a root that is a string", .unexpected, { $0[1] = .text("one") }),
        ("a root that is an array", .unexpected, { $0[1] = .array([.uid(2)]) }),
        (
            "a dictionary of too many keys", .tooLarge,
            {
                $0[1] = .dictionary((0..<9).map { ("key\($0)", .bool(true)) })
            }
        ),
    ]

    @Test("is refused with", arguments: refused.indices)
    func refuses(_ index: Int) {
        let (name, error, change) = Self.refused[index]
        #expect(throws: error, "\(name)") {
            try KeyedArchive.strings(in: changed(change))
        }
    }

    @Test(
        "is refused without its head, and with another one",
        arguments: [
            [("$archiver", ListValue.text("NSArchiver"))], [("$archiver", .integer(1))],
            [("$archiver", .data(Array("NSKeyedArchiver".utf8)))],
            [("$version", .integer(100_001))], [("$version", .text("100000"))],
            [("$version", .uid(100_000))],
            [("$top", .dictionary([("other", .uid(1))]))], [("$top", .uid(1))],
            [("$top", .dictionary([("root", .uid(0))]))],
            [("$top", .dictionary([("root", .uid(9))]))],
            [("$top", .dictionary([("root", .integer(1))]))],
            [("$objects", .dictionary([]))], [],
        ])
    func head(_ replacement: Entries) throws {
        guard case .dictionary(let entries) = LegacyKeychainFile.archiveList(of: ["one"]) else {
            Issue.record("an archive is a dictionary")
            return
        }
        #expect(try KeyedArchive.strings(in: ListValue.dictionary(entries).binary()) == ["one"])
        for name in replacement.isEmpty ? entries.map(\.0) : replacement.map(\.0) {
            let others = entries.filter { $0.0 != name }
            #expect(throws: PropertyListError.unexpected) {
                try KeyedArchive.strings(in: ListValue.dictionary(others + replacement).binary())
            }
        }
    }

    @Test(
        "is refused in the forms that are no archive",
        arguments: [
            [], Array("bplist00".utf8), Array("[\"one\"]".utf8), ListValue.text("one").binary(),
            ListValue.array([.text("one")]).binary(),
            LegacyKeychainFile.archiveList(of: ["one"]).xml(),
        ])
    func noArchive(_ bytes: [UInt8]) {
        #expect(throws: PropertyListError.self) { try KeyedArchive.strings(in: bytes) }
    }

    @Test("cannot make a reader write more than a few times its own bytes")
    func bomb() throws {
        let long = String(repeating: "x", count: ListText.bytesMax)
        let fits = changed {
            $0[1] = Self.array(Array(repeating: .uid(2), count: 64))
            $0[2] = .text(long)
        }
        #expect(try KeyedArchive.strings(in: fits).count == 64)
        let bomb = changed {
            $0[1] = Self.array(Array(repeating: .uid(2), count: 65))
            $0[2] = .text(long)
        }
        #expect(throws: PropertyListError.tooLarge) { try KeyedArchive.strings(in: bomb) }
        let longer = changed { $0[2] = .text(long + "x") }
        #expect(throws: PropertyListError.tooLarge) { try KeyedArchive.strings(in: longer) }
        let many = changed {
            $0[1] = Self.array(Array(repeating: .uid(2), count: 100_001))
            $0[2] = .text("")
        }
        #expect(throws: PropertyListError.tooLarge) { try KeyedArchive.strings(in: many) }
        let whole = [UInt8](repeating: 0, count: KeyedArchive.byteCountMax + 1)
        #expect(throws: PropertyListError.tooLarge) { try KeyedArchive.strings(in: whole) }
    }

    /// The archive of ["one"]: null, the array, the string, the array's class, that of mutable
    /// strings.
    private func changed(_ change: (inout [ListValue]) -> Void) -> [UInt8] {
        guard case .dictionary(var entries) = LegacyKeychainFile.archiveList(of: ["one"]),
            case .array(var objects) = entries[3].1
        else { return [] }
        change(&objects)
        entries[3].1 = .array(objects)
        return ListValue.dictionary(entries).binary()
    }

    private static func array(_ elements: [ListValue], described: UInt32 = 3) -> ListValue {
        .dictionary([("NS.objects", .array(elements)), ("$class", .uid(described))])
    }

    private static func description(_ classes: String...) -> ListValue {
        .dictionary([
            ("$classname", .text(classes[0])), ("$classes", .array(classes.map(ListValue.text))),
        ])
    }
}
