import PropertyLists
import TestKit
import Testing

@testable import LegacyKeychain

/// A damaged row between two whole ones, and what is told of it.
struct DamageCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// As it stands in the list, or on its line.
    let row: ListValue
    let damage: RowDamage
    let service: String?
    let account: String?

    init(
        _ name: String, _ row: ListValue, _ damage: RowDamage, service: String? = "s",
        account: String? = "a"
    ) {
        testDescription = name
        self.row = row
        self.damage = damage
        self.service = service
        self.account = account
    }
}

@Suite("A damaged row is told, and hides no other")
struct DamagedRowRules {
    static let long = String(repeating: "x", count: 1_025)
    static let s = ("svce", ListValue.text("s"))
    static let a = ("acct", ListValue.text("a"))
    static let v = ("v_Data", ListValue.data([1]))

    static let cases: [DamageCase] = [
        .init("no dictionary", .text("x"), .malformed, service: nil, account: nil),
        .init("an array", .array([.array([])]), .malformed, service: nil, account: nil),
        .init("nothing in it", .dictionary([]), .missing(.account), service: "", account: nil),
        .init("no account", .dictionary([s, v]), .missing(.account), account: nil),
        .init("no value", .dictionary([s, a]), .missing(.value)),
        .init("neither service nor value", .dictionary([a]), .missing(.value), service: ""),
        .init(
            "a number as service", .dictionary([("svce", .integer(1)), a, v]),
            .wrongType(.service), service: nil),
        .init(
            "a dictionary as account", .dictionary([s, ("acct", .dictionary([a])), v]),
            .wrongType(.account), account: nil),
        .init(
            "a truth value as group", .dictionary([s, a, v, ("agrp", .bool(true))]),
            .wrongType(.group)),
        .init(
            "a text as value", .dictionary([s, a, ("v_Data", .text("abandon"))]),
            .wrongType(.value)),
        .init(
            "an array as value", .dictionary([s, a, ("v_Data", .array([.data([1])]))]),
            .wrongType(.value)),
        .init(
            "an account that is not UTF-8", .dictionary([s, ("acct", .data([0xFF])), v]),
            .invalid(.account), account: nil),
        .init(
            "a service in overlong UTF-8", .dictionary([("svce", .data([0xC0, 0xAF])), a, v]),
            .invalid(.service), service: nil),
        .init(
            "a long service", .dictionary([("svce", .text(long)), a, v]), .tooLong(.service),
            service: nil),
        .init(
            "a long account in data", .dictionary([s, ("acct", .data(Array(long.utf8))), v]),
            .tooLong(.account), account: nil),
        .init("a long group", .dictionary([s, a, v, ("agrp", .text(long))]), .tooLong(.group)),
        .init(
            "a long value",
            .dictionary([s, a, ("v_Data", .data([UInt8](repeating: 1, count: 2_097_153)))]),
            .tooLong(.value)),
        .init("two services", .dictionary([s, a, v, s]), .repeated(.service), service: nil),
        .init("two accounts", .dictionary([s, a, v, a]), .repeated(.account), account: nil),
        .init("two values", .dictionary([s, v, a, v]), .repeated(.value)),
        .init(
            "too many keys",
            .dictionary([s, a, v] + (0..<126).map { ("key\($0)", ListValue.bool(true)) }),
            .malformed, service: nil, account: nil),
    ]

    static let whole = LegacyKeychainFile.Row(account: "whole", value: [1, 2, 3]).list

    private func list(of row: ListValue) -> ListValue {
        .dictionary([("genp", .array([Self.whole, row, Self.whole]))])
    }

    @Test("in a property list", arguments: cases)
    func propertyList(_ damaged: DamageCase) throws {
        for bytes in [list(of: damaged.row).binary(), list(of: damaged.row).xml()] {
            let rows = try KeychainSource(bytes).all()
            #expect(rows.count == 3)
            try expectWhole(rows, at: [0, 2])
            #expect(
                rows[1]
                    == .damaged(
                        DamagedItem(
                            index: 1, damage: damaged.damage, service: damaged.service,
                            account: damaged.account)))
        }
    }

    @Test("and none is damaged by what is not read of it")
    func harmless() throws {
        let row = ListValue.dictionary(
            [Self.s, Self.a, Self.v, ("agrp", .data(Array("ü".utf8)))]
                + (0..<123).map { ("key\($0)", ListValue.array([.text(Self.long)])) }
                + [(Self.long, .bool(false))])
        for bytes in [list(of: row).binary(), list(of: row).xml()] {
            let read = try KeychainSource(bytes).readAll()
            #expect(read[1] == ReadRow(service: "s", account: "a", group: "ü", value: [1]))
        }
        let bare = ListValue.dictionary([Self.a, Self.v])
        for bytes in [list(of: bare).binary(), list(of: bare).xml()] {
            let read = try KeychainSource(bytes).readAll()
            #expect(read[1] == ReadRow(service: "", account: "a", group: "", value: [1]))
        }
    }

    @Test(
        "where an account stands twice both rows come",
        arguments: FileForm.allCases)
    func twice(_ form: FileForm) throws {
        let file = LegacyKeychainFile([
            .init(account: "a", group: "one", value: [1]),
            .init(account: "a", group: "one", value: [1]),
            .init(account: "a", group: "two", value: [2]),
        ])
        #expect(try KeychainSource(form.bytes(of: file)).readAll().map(\.value) == [[1], [1], [2]])
    }

    static let lines: [(String, RowDamage, String?, String?)] = [
        ("{", .malformed, nil, nil),
        ("[]", .malformed, nil, nil),
        ("null", .malformed, nil, nil),
        (#"{"service":"s","account":"a","value":"AQ=="},"#, .malformed, nil, nil),
        (#"{"service":"s","service":"s","account":"a","value":"AQ=="}"#, .malformed, nil, nil),
        (#"{"account":"a","value":"AQ=="}"#, .missing(.service), nil, "a"),
        (#"{"service":"s","value":"AQ=="}"#, .missing(.account), "s", nil),
        (#"{"service":"s","account":null,"value":"AQ=="}"#, .missing(.account), "s", nil),
        (#"{"service":"s","account":"a"}"#, .missing(.value), "s", "a"),
        (#"{"service":1,"account":"a","value":"AQ=="}"#, .wrongType(.service), nil, "a"),
        (#"{"service":"s","account":["a"],"value":"AQ=="}"#, .wrongType(.account), "s", nil),
        (#"{"service":"s","account":"a","value":1}"#, .wrongType(.value), "s", "a"),
        (
            #"{"service":"s","account":"a","value":"AQ=="}"#.replacing(
                #""a""#, with: "\"\(long)\""),
            .tooLong(.account), "s", nil
        ),
        (#"{"service":"s","account":"a","group":{},"value":"AQ=="}"#, .wrongType(.group), "s", "a"),
        (#"{"service":"s","account":"a","value":"AQ"}"#, .invalid(.value), "s", "a"),
        (#"{"service":"s","account":"a","value":"AR=="}"#, .invalid(.value), "s", "a"),
        (#"{"service":"s","account":"a","value":"AQ==\n"}"#, .invalid(.value), "s", "a"),
        (#"{"service":"s","account":"a","value":"abandon about"}"#, .invalid(.value), "s", "a"),
        ("{\"service\":\"\u{FF}\u{FF}\"", .malformed, nil, nil),
    ]

    @Test("on a line of JSON", arguments: lines.indices)
    func line(_ index: Int) throws {
        let (line, damage, service, account) = Self.lines[index]
        let whole = LegacyKeychainFile.Row(account: "whole", value: [1, 2, 3]).json
        let rows = try KeychainSource(Array("\(whole)\n\(line)\n\(whole)".utf8)).all()
        #expect(rows.count == 3)
        try expectWhole(rows, at: [0, 2])
        let expected = DamagedItem(index: 1, damage: damage, service: service, account: account)
        #expect(rows[1] == .damaged(expected))
    }

    @Test("on a line that is too long, or no UTF-8")
    func longLine() throws {
        let whole = LegacyKeychainFile.Row(account: "whole", value: [1, 2, 3]).json
        let letters = String(repeating: "A", count: 2_097_156)
        for (line, damage, service) in [
            (
                #"{"service":"s","account":"a","value":"\#(letters)"}"#, RowDamage.tooLong(.value),
                "s"
            ),
            (#"{"service":"s","account":"a","value":"\#(letters)\#(letters)"}"#, .malformed, nil),
        ] {
            let rows = try KeychainSource(Array("\(whole)\n\(line)\n\(whole)\n".utf8)).all()
            #expect(rows.count == 3)
            try expectWhole(rows, at: [0, 2])
            guard case .damaged(let damaged) = rows[1] else { throw KeychainError.noValue }
            #expect(damaged.damage == damage && damaged.service == service)
        }
        let bytes = Array("\(whole)\n{\"service\":\"".utf8) + [0xFF] + Array("\"}\n".utf8)
        #expect(try KeychainSource(bytes).all().count == 2)
    }

    @Test("and blank lines, a carriage return and unknown members are no damage")
    func lenientLines() throws {
        let text = #"{"more":[1],"service":"s","account":"\u00fc","value":"\/\u002b8="}"#
        let rows = try KeychainSource(Array("\(text)\r\n\n \t\r\n\(text)".utf8)).readAll()
        #expect(
            rows
                == Array(
                    repeating: ReadRow(service: "s", account: "ü", group: "", value: [0xFF, 0xEF]),
                    count: 2))
    }

    @Test("by a broken object of a binary list, and no other row of it")
    func brokenObject() throws {
        let file = LegacyKeychainFile((0..<3).map { .init(account: "a\($0)", value: [UInt8($0)]) })
        let bytes = file.binary()
        let marker = Array("a1".utf8)
        let place = try #require(
            bytes.indices.first { bytes[$0...].starts(with: marker) && bytes[$0 - 1] == 0x52 })
        // A marker of no kind, a text that runs out of the objects, and one that is no ASCII.
        for (byte, damage) in [(0xF2, RowDamage.malformed), (0x5F, .malformed)] {
            var broken = bytes
            broken[place - 1] = UInt8(byte)
            let rows = try KeychainSource(broken).all()
            #expect(rows.count == 3)
            #expect(
                rows[1]
                    == .damaged(
                        DamagedItem(
                            index: 1, damage: damage, service: LegacyKeychainFile.service,
                            account: nil)))
            for index in [0, 2] {
                guard case .item(let item) = rows[index] else { throw KeychainError.noValue }
                #expect(item.account == "a\(index)")
            }
        }
    }

    private func expectWhole(_ rows: [KeychainRow], at places: [Int]) throws {
        for place in places {
            guard case .item(let item) = rows[place] else {
                Issue.record("\(rows[place])")
                continue
            }
            #expect(item.account == "whole" && item.index == place)
        }
    }
}
