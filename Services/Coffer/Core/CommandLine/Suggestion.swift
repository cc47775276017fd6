/// Finds what a person meant who mistyped a word.
enum Suggestion {
    /// The nearest of the candidates, if any is near: at most a third of the letters differ.
    static func nearest(to typed: String, among candidates: [String]) -> String? {
        let limit = max(1, typed.count / 3)
        let near = candidates.map { (name: $0, distance: distance(typed, $0)) }
            .filter { $0.distance <= limit }
        return near.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
    }

    /// How many letters must be put in, taken out, replaced or swapped with the next to get from
    /// one word to the other.
    static func distance(_ one: String, _ other: String) -> Int {
        let one = Array(one.utf8)
        let other = Array(other.utf8)
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for row in 0..<one.count {
            var current = [row + 1]
            for column in 0..<other.count {
                let change = one[row] == other[column] ? 0 : 1
                var best = min(last[column] + change, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column]
                {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[other.count]
    }
}
