import PropertyLists
import Secrets
import TestKit

extension FuzzTarget {
    static let keyedArchive = FuzzTarget(
        name: "keyed-archive",
        seeds: {
            [[], ["f78c9465937f02a9"], ["one", "ü"]].flatMap { strings in
                [
                    LegacyKeychainFile.archive(of: strings),
                    LegacyKeychainFile.archive(of: strings, isMutable: false, mutableStrings: true),
                ]
            } + excesses
        },
        run: { bytes in
            guard let strings = try? KeyedArchive.strings(in: bytes) else { return }
            let total = strings.reduce(0) { $0 + $1.utf8.count }
            promise(total <= max(65_536, 2 * bytes.count))
            promise(strings.allSatisfy { $0.utf8.count <= ListText.bytesMax })
            plantedTrap(strings.count == 2 && strings.contains(""))
        })

    /// Long texts, some beyond what is read, and a list that is none of texts.
    private static let excesses = [
        [String(repeating: "a", count: ListText.bytesMax + 1)],
        (0..<70).map { "\($0)" + String(repeating: "b", count: ListText.bytesMax - 2) },
    ].map { LegacyKeychainFile.archive(of: $0) }
}
