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
            name: name, seeds: { files.map(bytes) + oddities(of: format) },
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
            return [Array(text.utf8)]
        }
    }
}
