/// What the login manager says.
public enum LoginNews: Equatable, Sendable {
    /// A session's screen is locked.
    ///
    /// - Parameter session: its path on the bus, by which the manager knows it.
    case lock(session: String)
    /// The lock of a session's screen was taken off.
    case unlock(session: String)
    /// The machine goes to sleep as soon as ``LoginManager/letSleep()`` is called, or when the
    /// manager waits no longer.
    case sleep
    /// The machine is awake again.
    case wake
    /// The manager answers to its name from now on.
    case present
    /// Nobody has the manager's name any more.
    case absent
}

/// Why the login manager is not heard.
public enum LoginManagerError: Error, Equatable, Sendable {
    /// There is no bus, it does not let this program in, or it went away. An `errno`.
    case noBus(code: Int32)
}
