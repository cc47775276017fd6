/// The words of a phrase in which exactly one space parts them; anything else gives empty words,
/// which no list holds.
struct PhraseWords {
    private var rest: UnsafeRawBufferPointer?

    init(_ phrase: UnsafeRawBufferPointer) { rest = phrase }

    mutating func next() -> UnsafeRawBufferPointer? {
        guard let phrase = rest else { return nil }
        guard let end = phrase.firstIndex(of: UInt8(ascii: " ")) else {
            rest = nil
            return phrase
        }
        rest = UnsafeRawBufferPointer(rebasing: phrase[(end + 1)...])
        return UnsafeRawBufferPointer(rebasing: phrase[..<end])
    }

    static func count(in phrase: UnsafeRawBufferPointer) -> Int {
        phrase.isEmpty ? 0 : 1 + phrase.count { $0 == UInt8(ascii: " ") }
    }
}
