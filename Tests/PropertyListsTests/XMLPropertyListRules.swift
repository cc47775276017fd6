import PropertyLists
import TestKit
import Testing

@Suite("An XML property list")
struct XMLPropertyListRules {
    /// A token, with its text where it has one.
    private struct Part: Equatable {
        let token: XMLPropertyList.Token
        var text: ListText?
    }

    private func parts(_ text: String) throws(PropertyListError) -> [Part] {
        var list = XMLPropertyList(MemorySource(copying: Array(text.utf8)))
        var parts: [Part] = []
        while parts.last?.token != .endOfList {
            let token = try list.next()
            let hasText = token == .key || token == .string
            parts.append(Part(token: token, text: hasText ? list.text : nil))
        }
        #expect(try list.next() == .endOfList)
        return parts
    }

    private func plist(_ value: String) -> String { "<plist version=\"1.0\">\(value)</plist>" }

    @Test("gives its parts in their order")
    func order() throws {
        let text = plist("<dict><key>a</key><array><integer>1</integer><true/></array></dict>")
        #expect(
            try parts(text) == [
                Part(token: .beginDictionary), Part(token: .key, text: .text("a")),
                Part(token: .beginArray), Part(token: .other), Part(token: .other),
                Part(token: .end), Part(token: .end), Part(token: .endOfList),
            ])
        #expect(
            try parts(plist("<array><dict/><array/></array>")).map(\.token) == [
                .beginArray, .beginDictionary, .end, .beginArray, .end, .end, .endOfList,
            ])
    }

    @Test("tells where data lies")
    func data() throws {
        let text = plist("<data>\n\tAQID\n</data>")
        let start = 21 + 6
        #expect(try parts(text)[0].token == .data(start..<start + 7))
        #expect(try parts(plist("<data/>"))[0].token == .data(28..<28))
    }

    @Test(
        "resolves the five entities and numbers, and no other",
        arguments: [
            ("&lt;&gt;&amp;&quot;&apos;", "<>&\"'"), ("&#65;&#x42;&#x1F511;", "AB\u{1F511}"),
            ("&#0000000065;", "A"), ("&amp;lt;", "&lt;"), ("&#xFFFD;&#9;", "\u{FFFD}\t"),
            ("&#xfc;", "ü"), ("", ""), (" a\n", " a\n"),
        ])
    func entities(_ text: String, _ expected: String) throws {
        let read = try parts(plist("<string>\(text)</string>"))[0]
        #expect(read.text?.equals(expected) == true)
        #expect(try parts(plist("<dict><key>\(text)</key><true/></dict>"))[1].text == read.text)
    }

    @Test(
        "has texts as long as the limit, and tells longer ones",
        arguments: [
            (1_024, false), (1_025, true), (100_000, true),
        ])
    func longText(_ count: Int, _ isTooLong: Bool) throws {
        let long = String(repeating: "x", count: count)
        let read = try parts(plist("<array><string>\(long)</string><string>s</string></array>"))
        #expect(read[1].text == (isTooLong ? .tooLong : .text(long)))
        #expect(read[2].text == .text("s"))
    }

    @Test("tells a text that is no UTF-8")
    func invalidText() throws {
        var bytes = Array(plist("<string>x</string>").utf8)
        let place = try #require(bytes.firstIndex(of: UInt8(ascii: "x")))
        bytes[place] = 0xC0
        var list = XMLPropertyList(MemorySource(copying: bytes))
        #expect(try list.next() == .string)
        #expect(list.text == .invalid)
    }

    static let value = "<string>v</string>"

    @Test(
        "may have what property lists have about it",
        arguments: [
            "<plist>\(value)</plist>", "<plist version='1.0' >\(value)</plist >",
            "<?xml version=\"1.0\"?><plist>\(value)</plist>",
            "<?xml version='1.0' encoding='utf-8' standalone='no' ?>\n<plist>\(value)</plist>\n",
            "<?xml version = '1.0' encoding='UTF-8' standalone='yes'?><plist>\(value)</plist>",
            "<!-- a --><!----><plist><!-- - no\n -->\(value)<!--&x;<a>--></plist><!-- z -->",
            "<!DOCTYPE plist><plist>\(value)</plist>",
            "<!DOCTYPE plist SYSTEM 'a>b[' ><plist>\(value)</plist>",
            "<?xml version=\"1.0\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\"\n"
                + " \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist>\(value)</plist>",
            "<plist>\n\t<string >v</string\t>\r\n</plist>",
        ])
    func accepted(_ text: String) throws {
        #expect(try parts(text)[0] == Part(token: .string, text: .text("v")))
    }

    @Test(
        "is refused with what they do not have",
        arguments: [
            "", "<plist>", "<plist></plist>", "<plist/>", "<dict></dict>", "<plist>text</plist>",
            "<plist version=\"2.0\">\(value)</plist>", "<plist id=\"1.0\">\(value)</plist>",
            "<plist version=\"1.0\" version=\"1.0\">\(value)</plist>", "<plistx>\(value)</plistx>",
            "<plist version=1.0>\(value)</plist>", "<plist version=\"1.0>\(value)</plist>",
            "<plist version>\(value)</plist>", "<plist a='b' c='d' e='f' g='h'>\(value)</plist>",
            "<plist version=\"1234567890123456789\">\(value)</plist>",
            "<plist>\(value)\(value)</plist>", "<plist>\(value)</plist>\(value)",
            "<plist>\(value)</plist>x", "<plist>\(value)</dict>", "<plist>\(value)</plist",
            " <?xml version=\"1.0\"?><plist>\(value)</plist>",
            "<?xml?><plist>\(value)</plist>", "<?xml version=\"1.1\"?><plist>\(value)</plist>",
            "<?xml encoding=\"UTF-8\"?><plist>\(value)</plist>",
            "<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist>\(value)</plist>",
            "<?xml version=\"1.0\" standalone=\"maybe\"?><plist>\(value)</plist>",
            "<?xml version=\"1.0\" other=\"a\"?><plist>\(value)</plist>",
            "<?xml version=\"1.0\"><plist>\(value)</plist>",
            "<?pi?><plist>\(value)</plist>", "<plist><?pi?>\(value)</plist>",
            "<!DOCTYPE plist [<!ENTITY a \"b\">]><plist>\(value)</plist>",
            "<!DOCTYPE plist<plist>\(value)</plist>", "<!DOCTYPEplist><plist>\(value)</plist>",
            "<!DOCTYPE plist 'a><plist>\(value)</plist>", "<!DOCTYPE plist",
            "<!DOCTYPE plist><!DOCTYPE plist><plist>\(value)</plist>",
            "<plist><!-- -- -->\(value)</plist>", "<plist><!--->\(value)</plist>",
            "<plist><!- a ->\(value)</plist>", "<!--", "<!-- -",
            "<plist><![CDATA[v]]></plist>", "<plist><string><![CDATA[v]]></string></plist>",
            "<plist><string>a<b/>c</string></plist>", "<plist><string>a<!-- b --></string></plist>",
            "<plist><string>v</key></plist>", "<plist><string>v</plist>", "<plist><string>v",
            "<plist><string a=\"b\">v</string></plist>", "<plist><String>v</String></plist>",
            "<plist>< string>v</string></plist>", "<plist></string></plist>",
            "<plist><string>&nbsp;</string></plist>", "<plist><string>&amp</string></plist>",
            "<plist><string>&;</string></plist>", "<plist><string>&</string></plist>",
            "<plist><string>&#;</string></plist>", "<plist><string>&#x;</string></plist>",
            "<plist><string>&#0;</string></plist>", "<plist><string>&#xD800;</string></plist>",
            "<plist><string>&#x110000;</string></plist>",
            "<plist><string>&#xFFFE;</string></plist>",
            "<plist><string>&#4294967361;</string></plist>",
            "<plist><string>&#6a;</string></plist>",
            "<plist><string>&#-1;</string></plist>", "<plist><string>&#1;</string></plist>",
            "<plist><string>\u{1}</string></plist>", "<plist><string>a\u{0}</string></plist>",
            "<plist><data>AQ<b/>ID</data></plist>", "<plist><data>AQID</string></plist>",
            "<plist><data>AQID", "<plist><integer>1<integer>2</integer></integer></plist>",
            "<plist><true></true></plist>", "<plist><set></set></plist>",
            "<plist><key>a</key></plist>", "<plist><array><key>a</key></array></plist>",
            "<plist><dict>\(value)</dict></plist>", "<plist><dict><key>a</key></dict></plist>",
            "<plist><dict><key>a</key><key>b</key></dict></plist>",
            "<plist><dict><key>a</key>\(value)\(value)</dict></plist>",
            "<plist><array></dict></plist>", "<plist><dict></array></plist>",
            "<plist><plist>\(value)</plist></plist>",
        ])
    func refused(_ text: String) {
        #expect(throws: PropertyListError.malformed) { try parts(text) }
    }

    @Test("may be nested 32 deep, and no deeper")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            plist(
                String(repeating: "<array>", count: depth)
                    + String(repeating: "</array>", count: depth))
        }
        #expect(try parts(nested(32)).count == 65)
        #expect(throws: PropertyListError.tooDeep) { try parts(nested(33)) }
        #expect(throws: PropertyListError.tooDeep) { try parts(nested(100_000)) }
    }

    @Test("can be passed over in part")
    func skipping() throws {
        let text = plist(
            "<array><array><dict><key>a</key><array/></dict></array>\(Self.value)</array>")
        var list = XMLPropertyList(MemorySource(copying: Array(text.utf8)))
        #expect(try list.next() == .beginArray)
        try list.skip(list.next())
        #expect(try list.next() == .string)
        try list.skip(.string)
        try list.skipContainer()
        #expect(try list.next() == .endOfList)
    }
}
