import AuthorityCore
import AuthorityMessages
import Clocks
import Home
import Hosting
import Wire

@main
struct Main {
    static func main() {
        ServiceProgram<AuthorityService>(
            calls: [.attemptLimiter, .walletVault], publishes: true
        ) { parts in
            var settings = AuthoritySettings()
            settings.kdfTargetMilliseconds = parts.settings.kdfTargetMilliseconds
            settings.kdfQueue = parts.settings.kdfQueue
            settings.sessions = parts.settings.sessions
            let service = try AuthorityService(
                AuthorityParts(
                    group: parts.group, clock: parts.clock, awake: SystemAwakeClock(),
                    wallClock: SystemWallClock(),
                    timers: parts.timers, random: parts.random,
                    limiter: parts.client(of: .attemptLimiter),
                    vault: parts.client(of: .walletVault),
                    kdf: PooledKDF(), deviceKeys: ChildReader(parts.settings),
                    events: BusEvents(parts), metrics: parts.metrics,
                    settings: settings))
            service.startHeartbeat()
            LoginFollower(parts, service).start()
            return service
        }.main()
    }
}

extension ChildReader {
    /// Its program lies beside this one.
    fileprivate convenience init(_ settings: Settings) {
        let module = settings.deviceModule
        self.init(
            program: Programs.beside("device-key-reader"),
            module: module == Settings.everyModule ? nil : module)
    }
}

/// Tells sessions' news over the bus.
private final class BusEvents: EventPort {
    private let parts: ServiceParts

    init(_ parts: ServiceParts) { self.parts = parts }

    func publish(_ event: SessionEvent) { parts.publish(event.encoded()) }
}
