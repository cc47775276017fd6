internal import CSystemd
internal import Glibc

/// The login manager of systemd, as it is heard over the system's bus: what locks screens and puts
/// the machine to sleep.
///
/// Messages are taken as they come and none is believed but those of whoever has the manager's
/// name: any peer of the bus can send a signal to any other. Used from one thread.
public final class LoginManager {
    /// Readable when ``take()`` has something to do.
    public var descriptor: Int32 { waiting.descriptor }

    private let bus: BusConnection
    private let waiting: Waiting
    /// Who has the manager's name.
    private var manager: String?
    private var askedForName: UInt64
    private var askedToDelay: UInt64?
    /// While it is open the machine does not go to sleep at once.
    private var inhibitor: Int32?

    /// Connects to the system's bus, that of `DBUS_SYSTEM_BUS_ADDRESS` where it is set, and asks
    /// for news.
    public init() throws(LoginManagerError) {
        bus = try BusConnection()
        waiting = try Waiting(for: bus)
        // Of the name first, so that no change of it is missed after the question.
        for rule in Name.rules { try bus.hear(rule) }
        askedForName = try bus.askForOwner(of: Name.manager)
        try waiting.rest()
    }

    deinit { letSleep() }

    /// All news since the last look.
    ///
    /// - Throws: when the bus is gone; nothing more is to be had of this connection then.
    public func take() throws(LoginManagerError) -> [LoginNews] {
        var news: [LoginNews] = []
        while let message = try bus.next() {
            if let one = try read(message) { news.append(one) }
        }
        try waiting.rest()
        return news
    }

    /// Asks the manager to wait with the next sleep until ``letSleep()``, for a few seconds.
    public func delaySleep() throws(LoginManagerError) {
        guard inhibitor == nil, askedToDelay == nil else { return }
        askedToDelay = try bus.ask(
            Name.manager, Name.path, Name.managerInterface, "Inhibit",
            ["sleep", "Coffer", "Ends sessions before the machine sleeps.", "delay"])
        try waiting.rest()
    }

    /// Lets the machine sleep.
    public func letSleep() {
        if let inhibitor { close(inhibitor) }
        inhibitor = nil
    }

    private func read(_ message: borrowing BusMessage) throws(LoginManagerError) -> LoginNews? {
        if let cookie = message.answers {
            return readAnswer(message, to: cookie)
        }
        if message.isSignal(Name.bus, "NameOwnerChanged"), message.sender == Name.bus {
            return readOwner(message)
        }
        guard let manager, message.sender == manager else { return nil }
        if message.isSignal(Name.managerInterface, "PrepareForSleep") {
            return message.flag().map { $0 ? .sleep : .wake }
        }
        guard let session = message.path else { return nil }
        if message.isSignal(Name.sessionInterface, "Lock") { return .lock(session: session) }
        if message.isSignal(Name.sessionInterface, "Unlock") { return .unlock(session: session) }
        return nil
    }

    private func readAnswer(_ message: borrowing BusMessage, to cookie: UInt64) -> LoginNews? {
        if cookie == askedForName, message.sender == Name.bus {
            manager = message.isError ? nil : message.text()
            return manager == nil ? .absent : .present
        }
        guard cookie == askedToDelay else { return nil }
        askedToDelay = nil
        if message.sender == manager, !message.isError { inhibitor = message.openedDescriptor() }
        return nil
    }

    /// Name, who had it, who has it.
    private func readOwner(_ message: borrowing BusMessage) -> LoginNews? {
        guard message.text() == Name.manager, message.text() != nil, let owner = message.text()
        else { return nil }
        letSleep()
        askedToDelay = nil
        manager = owner.isEmpty ? nil : owner
        return manager == nil ? .absent : .present
    }

    private enum Name {
        static let bus = "org.freedesktop.DBus"
        static let manager = "org.freedesktop.login1"
        static let path = "/org/freedesktop/login1"
        static let managerInterface = "org.freedesktop.login1.Manager"
        static let sessionInterface = "org.freedesktop.login1.Session"
        static let rules = [
            "type='signal',sender='\(bus)',interface='\(bus)',member='NameOwnerChanged',"
                + "arg0='\(manager)'",
            "type='signal',sender='\(manager)',interface='\(managerInterface)',"
                + "member='PrepareForSleep'",
            "type='signal',sender='\(manager)',interface='\(sessionInterface)',member='Lock'",
            "type='signal',sender='\(manager)',interface='\(sessionInterface)',member='Unlock'",
        ]
    }
}
