import Testing

/// The client that the protocol's page prints is the one that the tests run.
@Suite struct ClientListingRules {
    private static let page = "docs/protocol.md"
    private static let program = "Tests/interop/client.py"

    @Test func thePrintedClientIsTheOneThatIsRun() {
        let listing = Self.listing(in: Repository.text(of: Self.page))
        #expect(listing != nil)
        #expect(listing == Repository.text(of: Self.program))
    }

    @Test func aChangedListingIsNoticed() {
        let text = Repository.text(of: Self.page)
        let changed = text.replacing("def call(", with: "def ask(")
        #expect(changed != text)
        #expect(Self.listing(in: changed) != Repository.text(of: Self.program))
    }

    /// The one block of Python on the page.
    private static func listing(in text: String) -> String? {
        let parts = text.split(separator: "```python\n", omittingEmptySubsequences: false)
        guard parts.count == 2, let end = parts[1].firstRange(of: "```") else { return nil }
        return String(parts[1][..<end.lowerBound])
    }
}
