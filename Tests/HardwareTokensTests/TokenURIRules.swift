import Testing

@testable import HardwareTokens

/// A URI names a token and no more: neither code to load nor a file to read.
@Suite struct TokenURIRules {
    @Test(arguments: [
        "pkcs11:", "pkcs11:token=mine", "pkcs11:token=two%20words;serial=0123",
        "pkcs11:manufacturer=SoftHSM%20project;model=SoftHSM%20v2;serial=1;token=t",
    ])
    func aTokenIsNamed(text: String) throws {
        _ = try TokenURI(text)
    }

    @Test(arguments: [
        "", "token=mine", "http://token", "pkcs11", "pkcs11:token",
        "pkcs11:token=mine?pin-value=1234", "pkcs11:token=mine?pin-source=file:/etc/shadow",
        "pkcs11:token=mine?module-path=/tmp/evil.so", "pkcs11:token=mine?module-name=evil",
        "pkcs11:token=%zz", "pkcs11:unheard-of=1", "pkcs11:token=a\0b",
    ])
    func anythingElseIsRefused(text: String) {
        #expect(throws: HardwareTokenError.invalidURI) { try parse(text) }
    }

    @Test func aLongOneIsRefused() {
        let prefix = "pkcs11:token="
        let longest = prefix + String(repeating: "a", count: 32)
        #expect(throws: Never.self) { try parse(longest) }
        let beyond = String(repeating: "b", count: TokenURI.byteLimit)
        #expect(throws: HardwareTokenError.invalidURI) { try parse(prefix + beyond) }
    }

    private func parse(_ text: String) throws(HardwareTokenError) { _ = try TokenURI(text) }
}
