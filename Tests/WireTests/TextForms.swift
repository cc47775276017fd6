import Testing
import Wire

@Suite struct Z85Rules {
    static let bytes: [UInt8] = [0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B]

    @Test func theVectorOfRFC32HoldsBothWays() {
        #expect(Z85.encode(Self.bytes) == "HelloWorld")
        #expect(Z85.decode("HelloWorld") == Self.bytes)
    }

    @Test func theTestKeyOfRFC32HoldsBothWays() {
        let key: [UInt8] = [
            0x8E, 0x0B, 0xDD, 0x69, 0x76, 0x28, 0xB9, 0x1D, 0x8F, 0x24, 0x55, 0x87, 0xEE, 0x95,
            0xC5, 0xB0, 0x4D, 0x48, 0x96, 0x3F, 0x79, 0x25, 0x98, 0x77, 0xB4, 0x9C, 0xD9, 0x06,
            0x3A, 0xEA, 0xD3, 0xB7,
        ]
        #expect(Z85.encode(key) == "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6")
        #expect(PeerKey("JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6")?.bytes == key)
        #expect(PeerKey(key)?.z85 == "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6")
    }

    @Test func theLargestGroupIsReadAndAnythingBeyondIsNot() {
        #expect(Z85.decode("%nSc0") == [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(Z85.decode("%nSc1") == nil)
        #expect(Z85.decode("#####") == nil)
    }

    @Test(arguments: ["H", "Hell", "HelloW", "Hell ", "Hell~", "Hell\"", "Hell\\", "Hellé"])
    func otherTextIsRefused(_ text: String) { #expect(Z85.decode(text) == nil) }

    @Test func bytesThatAreNoMultipleOfFourHaveNoText() {
        #expect(Z85.encode([1, 2, 3]) == nil)
        #expect(Z85.encode([]) == "")
        #expect(Z85.decode("") == [])
    }
}

@Suite struct Base64Rules {
    @Test(arguments: [
        ("", "", ""), ("f", "Zg==", "Zg"), ("fo", "Zm8=", "Zm8"), ("foo", "Zm9v", "Zm9v"),
        ("foob", "Zm9vYg==", "Zm9vYg"), ("fooba", "Zm9vYmE=", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy", "Zm9vYmFy"),
    ])
    func theVectorsOfRFC4648Hold(_ plain: String, _ padded: String, _ unpadded: String) {
        #expect(Base64.standard.encode(Array(plain.utf8)) == Array(padded.utf8))
        #expect(Base64.url.encode(Array(plain.utf8)) == Array(unpadded.utf8))
        #expect(Base64.standard.decode(Array(padded.utf8)) == Array(plain.utf8))
        #expect(Base64.url.decode(Array(unpadded.utf8)) == Array(plain.utf8))
    }

    @Test func everyValueHasItsLetterInBothAlphabets() {
        let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        // 48 bytes that hold the six-bit values 0 to 63 in order.
        let bytes = stride(from: UInt32(0), to: 64, by: 4).flatMap { first -> [UInt8] in
            let group = first << 18 | (first + 1) << 12 | (first + 2) << 6 | (first + 3)
            return [16, 8, 0].map { UInt8(truncatingIfNeeded: group >> $0) }
        }
        #expect(Base64.standard.encode(bytes) == Array((common + "+/").utf8))
        #expect(Base64.url.encode(bytes) == Array((common + "-_").utf8))
    }

    @Test func noByteOutsideTheAlphabetIsALetter() {
        let letters = Set(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for byte in UInt8.min...UInt8.max {
            let decoded = Base64.standard.decode([0x41, 0x41, byte, 0x41])
            #expect((decoded != nil) == letters.contains(byte))
        }
    }

    @Test(arguments: ["A", "AAAAA", "AB", "AAB", "AA==", "AA=", "+/==", "AA+/", "AA A"])
    func otherSpellingsOfTheURLFormAreRefused(_ text: String) {
        #expect(Base64.url.decode(Array(text.utf8)) == nil)
    }

    @Test func randomBytesReadBackAsThemselvesAndEveryAcceptedTextIsTheOneWritten() {
        var random = SplitMix(state: 64)
        for _ in 0..<5_000 {
            let bytes = (0..<random.below(70)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            for form in [Base64.standard, Base64.url] {
                var text = form.encode(bytes)
                #expect(form.decode(text) == bytes)
                guard !text.isEmpty else { continue }
                text[random.below(text.count)] = UInt8(0x20 + random.below(0x60))
                if let other = form.decode(text) { #expect(form.encode(other) == text) }
            }
        }
    }
}

@Suite struct IdentifierRules {
    @Test(arguments: ["local", "a", "A-Z.0_9", String(repeating: "x", count: 64), "..", "-"])
    func aNameOfTheAllowedLettersIsAnOwnerAndANamespace(_ text: String) {
        #expect(Owner(text)?.text == text)
        #expect(Namespace(text)?.text == text)
    }

    @Test(arguments: [
        "", String(repeating: "x", count: 65), "a b", "a/b", "é", "a\0", "a\n", "\u{212a}", "a:b",
        "*", "a,b",
    ])
    func otherNamesAreRefused(_ text: String) {
        #expect(Owner(text) == nil)
        #expect(Namespace(text) == nil)
    }

    @Test func aWalletIsAnUpperCaseUUID() {
        let text = "00000000-0000-4000-8000-00000000ABCD"
        #expect(WalletID(text)?.text == text)
        for other in [
            "", text.lowercased(), "0" + text, String(text.dropLast()),
            "00000000-0000-4000-8000-00000000ABCG", "00000000-0000-4000-80000-0000000ABCD",
            "{0000000-0000-4000-8000-00000000ABC}", "00000000_0000-4000-8000-00000000ABCD",
        ] {
            #expect(WalletID(other) == nil)
        }
    }

    @Test func aKeyForRepetitionIsSixteenBytesInLowerCase() {
        let text = "000102030405060708090a0b0c0d0eff"
        #expect(IdempotencyKey(text)?.text == text)
        #expect(IdempotencyKey(text)?.bytes.count == 16)
        for other in ["", text.uppercased(), text + "00", String(text.dropLast(2)), "0" + text] {
            #expect(IdempotencyKey(other) == nil)
        }
        #expect(IdempotencyKey([UInt8](repeating: 0, count: 15)) == nil)
    }

    @Test func aPeerKeyIsThirtyTwoBytes() {
        #expect(PeerKey([UInt8](repeating: 0, count: 31)) == nil)
        #expect(PeerKey([UInt8](repeating: 0, count: 33)) == nil)
        #expect(PeerKey("HelloWorld") == nil)
        #expect(PeerKey(String(repeating: "0", count: 40))?.bytes == Array(repeating: 0, count: 32))
    }

    @Test func rolesHaveATextThatReadsBack() {
        let roles: [Role] =
            ServiceName.allCases.map(Role.service) + [.app, .extension, .engine, .operator]
        for role in roles { #expect(Role(role.text) == role) }
        #expect(Set(roles.map(\.text)).count == roles.count)
        for other in ["", "service", "service:", "service:x", "App", "admin"] {
            #expect(Role(other) == nil)
        }
    }

    @Test func ownersOfAPeerAreAllOrThoseListed() throws {
        let local = try #require(Owner("local"))
        let other = try #require(Owner("other"))
        #expect(OwnerSet("*") == .all)
        #expect(OwnerSet("other,local") == .some([local, other]))
        #expect(OwnerSet("other,local")?.text == "local,other")
        #expect(OwnerSet.all.admits(other))
        #expect(OwnerSet.some([local]).admits(local))
        #expect(!OwnerSet.some([local]).admits(other))
        for text in ["", ",", "local,", "local,local", "*,local", "a b"] {
            #expect(OwnerSet(text) == nil)
        }
    }

    @Test func aServiceIsAdmittedByItsNameAloneAndOtherPeersByTheirRole() {
        let callers = Callers(services: [.walletVault], roles: [.app, .service])
        #expect(callers.admits(.service(.walletVault)))
        #expect(!callers.admits(.service(.migration)))
        #expect(callers.admits(.app))
        #expect(!callers.admits(.engine))
        #expect(!Callers().admits(.app))
    }
}
