internal import Bus
public import Clocks
public import Home
public import Loop
public import Secrets
public import Serving
public import Wire

/// What a program gives its service to work with: the real clock, randomness, store and bus.
@ServiceLoop
public struct ServiceParts {
    public let group: CommitGroup
    public let clock: any BootClock
    public let random: any RandomSource
    public let timers: Timers
    public let metrics: MetricsRegistry
    public let settings: Settings
    public let log: Log

    let loop: BusLoop
    let calls: [ServiceName: ServiceClient]
    let publisher: Publisher?
    let listen:
        @ServiceLoop (ServiceName, @escaping @ServiceLoop (EventNotice) -> Void) throws -> Void

    /// The way to another service, one of those that the program names.
    public func client(of service: ServiceName) -> ServiceClient {
        guard let client = calls[service] else {
            preconditionFailure("the program does not name this service")
        }
        return client
    }

    /// A descriptor that is looked at.
    public struct Watched {
        let source: BusLoop.Source
    }

    /// Calls a handler in each turn in which a descriptor is readable, until it is watched no more.
    ///
    /// - Parameter descriptor: open until then.
    public func watch(
        _ descriptor: Int32, _ handler: @escaping @ServiceLoop () -> Void
    ) -> Watched {
        Watched(source: loop.add(descriptor: descriptor, handler: handler))
    }

    public func unwatch(_ watched: Watched) { loop.remove(watched.source) }

    /// Tells an event to every service that listens.
    public func publish(_ event: [UInt8]) { publisher?.publish([event]) }

    /// Hears another service's events from now on.
    public func listen(
        to service: ServiceName, _ handler: @escaping @ServiceLoop (EventNotice) -> Void
    ) throws {
        try listen(service, handler)
    }
}
