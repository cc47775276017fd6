import Secrets
import UnicodeText

func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

extension SecretBytes {
    var array: [UInt8] { withBytes { Array($0) } }
}

/// Every scalar there is, a few hundred to a text, each on a line of its own.
func everyScalar(where included: (Unicode.Scalar) -> Bool = { _ in true }) -> [String] {
    var texts: [String] = []
    var text = String.UnicodeScalarView()
    for value in UInt32(0)...0x10_ffff {
        guard let scalar = Unicode.Scalar(value), included(scalar) else { continue }
        text.append(scalar)
        text.append("\n")
        if text.count == 1000 {
            texts.append(String(text))
            text = String.UnicodeScalarView()
        }
    }
    return texts + [String(text)]
}

/// A repeatable sequence of numbers (splitmix64).
struct Sequence64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

/// Scalars that interact: letters, marks of several classes, jamo, exclusions, digits, joiners.
let interacting: [Unicode.Scalar] = [
    "a", "e", "o", "A", "1", "4", "٣", "４", "²", "①", "Ⅷ", "五",
    "\u{0301}", "\u{0323}", "\u{0327}",
    "\u{0345}", "\u{0315}", "\u{0344}", "\u{0958}", "\u{0915}", "\u{093c}", "\u{094d}", "\u{1100}",
    "\u{1112}", "\u{1161}", "\u{11ab}", "\u{212b}", "\u{1e9b}", "\u{fb01}", "\u{fdfa}",
    "\u{200d}", "\u{20e3}", "\u{fe0f}", "\u{1f1e6}", "\u{1f468}", "\u{0600}", "\r", "\n", " ",
    "\u{0b47}", "\u{0b56}", "\u{0b3e}", "\u{11099}", "\u{110ba}", "\u{1d15e}", "\u{0e33}",
    "\u{0903}",
]

func randomTexts(seed: UInt64, count: Int) -> [String] {
    var numbers = Sequence64(state: seed)
    return (0..<count).map { _ in
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 1...12, using: &numbers) {
            text.append(interacting[Int.random(in: interacting.indices, using: &numbers)])
        }
        return String(text)
    }
}
