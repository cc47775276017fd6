import LegacyKeychain
import PropertyLists
import TestKit

extension FuzzTarget {
    static let keychainBinary = keychain("keychain-binary", .binaryPropertyList) { $0.binary() }
    static let keychainXML = keychain("keychain-xml", .xmlPropertyList) { $0.xml() }
    static let keychainLines = keychain("keychain-lines", .jsonLines) { $0.jsonLines() }

    private static func keychain(
        _ name: String, _ format: KeychainSource.Format,
        _ bytes: @escaping @Sendable (LegacyKeychainFile) -> [UInt8]
    ) -> FuzzTarget {
        FuzzTarget(
            name: name, seeds: { files.map(bytes) + oddities(of: format) + excesses(of: format) },
            run: { input in
                let whole = KeychainReading(MemorySource(copying: input), format)
                let failing = FailingSource(input)
                promise(
                    KeychainReading(failing, format).isBeginning(of: whole, failing.hasFailed))
            })
    }

    private static let files = [
        LegacyKeychainFile([]),
        LegacyKeychainFile([.init(service: "", account: "a", value: [0x20, 0x21])]),
        LegacyKeychainFile([
            .init(account: "WALLET_MNEMONIC_KEY_1", group: "g", value: Array("abandon".utf8)),
            .init(service: "ü", account: "&<>\u{1F511}", value: []),
        ]),
    ]

    /// Forms that the writer of the files above has not.
    private static func oddities(of format: KeychainSource.Format) -> [[UInt8]] {
        let row = ListValue.dictionary([
            ("acct", .wideText("a")), ("svce", .data(Array("s".utf8))), ("v_Data", .data([1])),
        ])
        let list = ListValue.dictionary([
            ("genp", .array([row, .integer(1), .dictionary([("svce", .bool(true))])])),
            ("inet", .array([.array([])])),
        ])
        switch format {
        case .binaryPropertyList: return [list.binary()]
        case .xmlPropertyList:
            let text = """
                <!DOCTYPE plist SYSTEM 'a'><!-- b --><plist version='1.0'><dict><key>genp</key>
                <array><dict><key>ac&#99;t</key><string>&lt;&#x41;&quot;&apos;&gt;&amp;</string>
                <key>v_Data</key><data> A Q I D </data><key>x</key><real>1.5</real></dict></array>
                </dict></plist>
                """
            let bare = """
                <plist><dict><key>genp</key><array><dict><key>acct</key><string>a</string>\
                <key>svce</key><string>c</string><key>v_Data</key><data>IA==</data></dict></array>\
                </dict></plist>
                """
            return [list.xml(), Array(text.utf8), Array(bare.utf8)]
        case .jsonLines:
            let text = #"""
                {"service":"s","account":"\u00fc\ud83d\udd11","value":"\/+8=","group":null}

                {"service":1,"account":["a",{"b":false}],"value":-1.5e3}
                {"service":"s","account":"a","value":"A"}
                """#
            let bare = #"{"service":"c","account":"a","value":"IA=="}"#
            return [Array(text.utf8), Array(bare.utf8)]
        }
    }

    /// More than is read: keys of a row, bytes of a text, nesting; and more pages than are kept.
    private static func excesses(of format: KeychainSource.Format) -> [[UInt8]] {
        let long = String(repeating: "a", count: ListText.bytesMax + 1)
        let keys = (0...KeychainSource.keysMax).map { ("key\($0)", ListValue.bool(true)) }
        let rows = [
            ListValue.dictionary([
                ("acct", .text(long)), ("svce", .wideText(long)), ("v_Data", .data([1])),
            ]),
            .dictionary([("acct", .text(String(long.dropLast()))), ("svce", .data([0xFF, 0xC0]))]),
            .dictionary(keys),
            .array((0..<40).reduce([]) { inner, _ in [.array(inner)] }),
        ]
        let list = ListValue.dictionary([("genp", .array(rows))])
        let pages = LegacyKeychainFile(
            (0..<40).map { .init(account: "a\($0)", value: [UInt8](repeating: $0, count: 700)) })
        switch format {
        case .binaryPropertyList: return [list.binary(), pages.binary()]
        case .xmlPropertyList: return [list.xml(), pages.xml()]
        case .jsonLines:
            let escaped = String(repeating: "\\u0061", count: ListText.bytesMax + 1)
            let text = """
                {"service":"\(long)","account":"\(escaped)","value":"AQ=="}
                {"service":"\\ud83d","account":"\(escaped)a","value":"AQ==","value":"AQ=="}
                """
            return [Array(text.utf8), pages.jsonLines()]
        }
    }
}
