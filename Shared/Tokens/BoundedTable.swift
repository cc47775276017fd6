/// A dictionary of at most `limit` entries, which lets go of the oldest one to take a new one.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let limit: Int
    private var entries: [Key: Value] = [:]
    /// Keys in a ring; `oldest` is where the next one goes once the ring is full.
    private var order: [Key] = []
    private var oldest = 0

    init(limit: Int) { self.limit = limit }

    subscript(key: Key) -> Value? { entries[key] }

    /// Adds an entry; a value that is there already is replaced in its place.
    mutating func insert(_ key: Key, _ value: Value) {
        guard entries.updateValue(value, forKey: key) == nil else { return }
        guard order.count == limit else {
            order.append(key)
            return
        }
        entries[order[oldest]] = nil
        order[oldest] = key
        oldest = (oldest + 1) % limit
    }

    mutating func removeAll() {
        self = BoundedTable(limit: limit)
    }
}
