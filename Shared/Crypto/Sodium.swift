internal import CSodium

/// libsodium, which must be told to begin once before any other call.
enum Sodium {
    static func begin() { precondition(began, "libsodium does not start") }

    private static let began = sodium_init() >= 0
}
