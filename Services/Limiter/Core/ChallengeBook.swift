internal import Clocks
internal import Secrets
internal import Wire

/// The challenges that wait for their signature: in memory only, so that a restart voids them.
struct ChallengeBook {
    private struct Challenge {
        let bytes: [UInt8]
        let drawn: BootMoment
    }

    /// How many bytes a challenge has.
    static let byteCount = 16
    /// How long a challenge serves.
    static let lifetimeNanoseconds: UInt64 = 60_000_000_000
    /// How many of one owner wait; one more drops the oldest.
    static let limitPerOwner = 64
    /// How many wait in all.
    static let limit = 4_096

    private var open: [Owner: [Challenge]] = [:]
    /// How many wait, those that are too old included.
    private(set) var count = 0

    /// Draws a challenge for an owner.
    ///
    /// - Throws: ``BusFault/busy`` where too many owners' wait.
    mutating func draw(
        for owner: Owner, at now: BootMoment, from random: any RandomSource
    ) throws(BusFault) -> [UInt8] {
        if count >= Self.limit { dropOld(at: now) }
        var challenges = open[owner] ?? []
        if challenges.count >= Self.limitPerOwner {
            challenges.removeFirst()
            count -= 1
        }
        guard count < Self.limit else { throw .busy }
        let challenge = Challenge(bytes: random.bytes(Self.byteCount), drawn: now)
        challenges.append(challenge)
        open[owner] = challenges
        count += 1
        return challenge.bytes
    }

    /// Whether the challenge is open; it is not any more.
    mutating func take(_ bytes: [UInt8], of owner: Owner, at now: BootMoment) -> Bool {
        guard let place = open[owner]?.firstIndex(where: { $0.bytes == bytes }),
            let challenge = open[owner]?.remove(at: place)
        else { return false }
        count -= 1
        if open[owner]?.isEmpty == true { open[owner] = nil }
        return Self.serves(challenge, at: now)
    }

    /// Voids what waits for an owner.
    mutating func void(_ owner: Owner) { count -= open.removeValue(forKey: owner)?.count ?? 0 }

    private mutating func dropOld(at now: BootMoment) {
        open = open.compactMapValues { challenges in
            let young = challenges.filter { Self.serves($0, at: now) }
            return young.isEmpty ? nil : young
        }
        count = open.values.reduce(0) { $0 + $1.count }
    }

    private static func serves(_ challenge: Challenge, at now: BootMoment) -> Bool {
        challenge.drawn.bootID == now.bootID && challenge.drawn.nanoseconds <= now.nanoseconds
            && now.nanoseconds - challenge.drawn.nanoseconds <= lifetimeNanoseconds
    }
}
