extension [UInt8] {
    /// Whether some bytes stand in these, one after the other; at least one is looked for.
    public func holds(_ wanted: [UInt8]) -> Bool {
        withUnsafeBytes { all in
            wanted.withUnsafeBytes { wanted in
                guard let first = wanted.first, all.count >= wanted.count else { return false }
                return (0...all.count - wanted.count).contains { start in
                    all[start] == first && all[start...].starts(with: wanted)
                }
            }
        }
    }

    public func holds(_ wanted: some StringProtocol) -> Bool { holds(Array(wanted.utf8)) }
}
