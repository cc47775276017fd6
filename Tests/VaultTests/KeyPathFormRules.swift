import HDKeys
import Testing
import VaultMessages

/// What a client takes for a path is what the vault reads as one.
@Suite struct KeyPathFormRules {
    @Test(arguments: [
        "m", "m/0", "m/44'/0'/0'", "m/44h/5'/0'/0/0", "m/2147483647", "m/2147483647'",
        "m" + String(repeating: "/0", count: 10), "m" + String(repeating: "/0", count: 11),
        "", "/", "m/", "M/0", "44'/0'", "m44'", "m//0", "m/0/", "m/+1", "m/-0", "m/-1", "m/01",
        "m/00", "m/2147483648", "m/4294967296", "m/99999999999999999999", "m/0''", "m/'", "m/0H",
        "m/ 0", "m/0 ", " m/0", "m/\u{661}", "m/0'\u{301}", "m\u{301}/0",
    ])
    func bothTakeTheSame(path: String) {
        #expect(KeyPathForm.accepts(path) == ((try? DerivationPath(path)) != nil))
    }
}
