/// What is done to valid bytes to see that a decoder takes any.
public enum Mutation {
    /// One to eight changes: of a bit or a byte, cut out, put in twice, cut off at the end.
    public static func changed(_ bytes: [UInt8], _ random: SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<random.number(in: 1...8) where !bytes.isEmpty {
            let place = random.number(in: 0...bytes.count - 1)
            let end = min(bytes.count, place + random.number(in: 1...16))
            switch random.number(in: 0...5) {
            case 0: bytes[place] ^= 1 << UInt8(random.number(in: 0...7))
            case 1: bytes[place] = UInt8(random.number(in: 0...255))
            case 2: bytes[place] = random.pick([0x00, 0x0F, 0x7F, 0x80, 0xFF, 0x3C, 0x26]) ?? 0
            case 3: bytes.removeSubrange(place..<end)
            case 4: bytes.insert(contentsOf: bytes[place..<end], at: place)
            default: bytes.removeSubrange(end...)
            }
        }
        return bytes
    }
}
