import Secrets
import Testing
import Wire

@Suite struct JSONTotality {
    static let seeds = [
        #"{"v":1,"id":7,"method":"limiter.begin","owner":"local","timeout_ms":5000,"settled":[]}"#,
        #"{"a":"\u00e9\ud83d\ude00","b":[1,2.5e-3,[true,false,null]],"c":{"d":{}}}"#,
        #"{"salt":"EBESExQVFhcYGRobHB0eHw==","iterations":600000,"wrappedKey":"\/+8="}"#,
        "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
    ].map { Array($0.utf8) }

    /// Letters that make JSON likely, so that random texts get past the first byte.
    static let letters = Array(#"{}[]":,\u0123eE+-.dD8tfn aAé="#.utf8)

    @Test func randomAndMutatedBytesNeverTrapAndBothReadersAgree() {
        var random = SplitMix(state: 0x5EED)
        for step in 0..<100_000 {
            let bytes = input(step, &random)
            let fromPlain = walk { () throws(JSONError) in try JSONDocument(bytes) }
            if step % 8 == 0 {
                let secret = SecretBytes(copying: bytes)
                let fromSecret = walk { () throws(JSONError) in try JSONDocument(secret) }
                #expect(fromPlain == fromSecret, "seed 0x5EED, step \(step)")
            }
        }
    }

    private func input(_ step: Int, _ random: inout SplitMix) -> [UInt8] {
        switch step % 4 {
        case 0:
            return (0..<random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        case 1:
            return (0..<random.below(40)).map { _ in
                Self.letters[random.below(Self.letters.count)]
            }
        default:
            var bytes = Self.seeds[random.below(Self.seeds.count)]
            for _ in 0...random.below(4) where !bytes.isEmpty {
                let position = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[position] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: position)
                case 2: bytes.insert(Self.letters[random.below(Self.letters.count)], at: position)
                default: bytes.removeSubrange(position...)
                }
            }
            return bytes
        }
    }

    /// Uses every accessor on everything that was read; the result tells runs apart.
    private func walk(_ read: () throws(JSONError) -> JSONDocument) -> [String] {
        do {
            var trail: [String] = []
            visit(try read().root, &trail)
            return trail
        } catch {
            return ["\(error)"]
        }
    }

    private func visit(_ value: JSONValue, _ trail: inout [String]) {
        trail.append(
            """
            \(value.kind) \((try? value.string("x")) ?? "-") \((try? value.integer("x")) ?? -1) \
            \((try? value.uint64("x")) ?? 1) \((try? value.number("x")) ?? -1) \
            \((try? value.bool("x")) ?? false) \((try? value.base64("x")) ?? []) \
            \((try? value.hex("x")) ?? []) \((try? value.identifier("x", as: PeerKey.self)) == nil)
            """)
        for element in (try? value.array("x")) ?? [] { visit(element, &trail) }
        guard let object = try? value.object("x") else { return }
        for key in object.keys {
            trail.append(key)
            if let member = object.value(key) { visit(member, &trail) }
        }
    }
}

/// A small seeded generator, the same on every run.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
