public import Wire

extension Namespace {
    /// Which of Telegram's servers an account is on.
    public enum TelegramEnvironment: String, Sendable, CaseIterable {
        case production
        case test
    }

    /// The namespace of a Telegram account's wallets, as the passcode document has it:
    /// `telegram.<production|test>.<id>`, the account's peer id as an unsigned number.
    public static func telegram(
        _ environment: TelegramEnvironment, peer: Int64
    ) -> Namespace {
        let name = "telegram.\(environment.rawValue).\(UInt64(bitPattern: peer))"
        guard let namespace = Namespace(name) else {
            preconditionFailure("the name has at most 40 letters, all allowed")
        }
        return namespace
    }
}
