/// A legacy keychain that a test makes, in each of the formats that are read.
public struct LegacyKeychainFile: Sendable {
    public struct Row: Sendable {
        public var service: String
        public var account: String
        public var group: String
        public var value: [UInt8]

        public init(
            service: String = LegacyKeychainFile.service, account: String, group: String = "",
            value: [UInt8]
        ) {
            self.service = service
            self.account = account
            self.group = group
            self.value = value
        }
    }

    /// The service of the legacy app.
    public static let service = "org.dashfoundation.dash"

    public var rows: [Row]

    public init(_ rows: [Row]) { self.rows = rows }

    /// The rows as the dictionary of a device backup, with other classes and attributes about them.
    public var list: ListValue {
        .dictionary([
            ("cert", .array([])),
            ("genp", .array(rows.map(\.list))),
            ("inet", .array([.dictionary([("srvr", .text("example.org"))])])),
            ("keys", .array([])),
        ])
    }

    public func binary() -> [UInt8] { list.binary() }

    public func xml() -> [UInt8] { list.xml() }

    public func jsonLines() -> [UInt8] { rows.flatMap { Array("\($0.json)\n".utf8) } }

    /// An archive of Apple's NSKeyedArchiver: an array of strings.
    public static func archive(
        of strings: [String], isMutable: Bool = true, mutableStrings: Bool = false
    ) -> [UInt8] {
        archiveList(of: strings, isMutable: isMutable, mutableStrings: mutableStrings).binary()
    }

    /// The same before it is written.
    public static func archiveList(
        of strings: [String], isMutable: Bool = true, mutableStrings: Bool = false
    ) -> ListValue {
        let classes =
            isMutable ? ["NSMutableArray", "NSArray", "NSObject"] : ["NSArray", "NSObject"]
        var objects: [ListValue] = [.text("$null"), .text("")]
        for text in strings {
            objects.append(mutableStrings ? mutableString(text, strings.count + 3) : .text(text))
        }
        objects[1] = .dictionary([
            ("NS.objects", .array(strings.indices.map { .uid(UInt32($0 + 2)) })),
            ("$class", .uid(UInt32(strings.count + 2))),
        ])
        objects.append(classDescription(classes))
        objects.append(classDescription(["NSMutableString", "NSString", "NSObject"]))
        return .dictionary([
            ("$version", .integer(100_000)),
            ("$archiver", .text("NSKeyedArchiver")),
            ("$top", .dictionary([("root", .uid(1))])),
            ("$objects", .array(objects)),
        ])
    }

    private static func mutableString(_ text: String, _ described: Int) -> ListValue {
        .dictionary([("$class", .uid(UInt32(described))), ("NS.string", .text(text))])
    }

    private static func classDescription(_ classes: [String]) -> ListValue {
        .dictionary([
            ("$classname", .text(classes[0])), ("$classes", .array(classes.map(ListValue.text))),
        ])
    }
}

extension LegacyKeychainFile.Row {
    /// The row as a device backup has it.
    public var list: ListValue {
        .dictionary([
            ("acct", .text(account)),
            ("agrp", .text(group)),
            ("cdat", .date(445_599_000)),
            ("pdmn", .text("ak")),
            ("svce", .text(service)),
            ("sync", .integer(0)),
            ("v_Data", .data(value)),
        ])
    }

    /// The row as a line of JSON, without a line feed; texts without quotes and backslashes.
    public var json: String {
        """
        {"service":"\(service)","account":"\(account)","group":"\(group)",\
        "value":"\(base64(value))"}
        """
    }
}
