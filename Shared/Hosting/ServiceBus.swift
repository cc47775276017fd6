internal import Bus
internal import Clocks
internal import Glibc
internal import Home
internal import Loop
internal import Serving
internal import Wire

/// A service's sockets, and the handler that decides who may connect to them.
@ServiceLoop
final class ServiceBus {
    let peers: PeerTable
    let requests: RequestSocket
    let publisher: Publisher?
    let clients: [ServiceName: ServiceClient]

    private let installation: Installation
    private let context: Context
    private let links: [ServiceLink]
    private let handler: ZAPHandler
    private let loop: BusLoop
    private var subscribers: [Subscriber] = []

    init(
        _ installation: Installation, loop: BusLoop, publishing: Bool, calls: [ServiceName]
    ) throws(ProgramError) {
        self.installation = installation
        self.loop = loop
        peers = PeerTable(folder: PeerFolder(path: installation.home.peersPath))
        if let failure = peers.failure { throw .refused("\(failure).") }
        // The socket files get their mode as they are made. Who is let in is decided by keys.
        let mask = umask(installation.sharesRunFolder ? 0o117 : 0o177)
        defer { umask(mask) }
        do {
            context = try Context()
            handler = try ZAPHandler(context: context, peers: peers)
            requests = try RequestSocket(
                context: context, endpoint: installation.endpoint, identity: installation.identity)
            publisher =
                publishing
                ? try Publisher(
                    loop: loop, context: context, endpoint: installation.events,
                    identity: installation.identity) : nil
        } catch {
            throw .refused("\(error).")
        }
        var clients: [ServiceName: ServiceClient] = [:]
        var links: [ServiceLink] = []
        for name in calls {
            let link = ServiceLink(
                loop: loop, context: context,
                endpoint: try Installation.endpoint(installation.settings.endpoint(of: name)),
                serverKey: try Self.key(of: name, installation), identity: installation.identity)
            clients[name] = ServiceClient(port: link)
            links.append(link)
        }
        self.clients = clients
        self.links = links
    }

    /// What passed through the sockets since the start.
    func counters() -> [Counter] {
        let handshakes = handler.counts
        let counts = requests.counts
        let calls = links.map(\.counts)
        return [
            Counter("handshakes_admitted", handshakes.admitted, help: "Connections let in."),
            Counter(
                "handshakes_refused", handshakes.refused,
                help: "Connections of keys that no entry admits."),
            Counter(
                "handshakes_malformed", handshakes.malformed,
                help: "Questions of the library that could not be read."),
            Counter(
                "connections_refused", RequestSocket.refusedConnections,
                help: "Connections ended at once for want of descriptors."),
            Counter(
                "peer_table_readings", peers.readingCount, help: "Readings of the peers folder."),
            Counter("requests_received", counts.requests, help: "Requests that came in."),
            Counter(
                "requests_malformed", counts.refused,
                help: "Requests refused for the number, size or form of their frames."),
            Counter(
                "requests_without_key", counts.unidentified,
                help: "Messages dropped because no key came with them."),
            Counter("replies_sent", counts.replies, help: "Replies handed to a connection."),
            Counter(
                "replies_to_vanished_peers", counts.repliesToVanishedPeers,
                help: "Replies dropped because the peer was gone."),
            Counter(
                "replies_to_slow_peers", counts.repliesToSlowPeers,
                help: "Replies dropped because the peer did not read."),
            Counter(
                "service_connections", calls.reduce(0) { $0 + $1.connections },
                help: "Connections made to other services."),
            Counter(
                "service_requests", calls.reduce(0) { $0 + $1.requests },
                help: "Requests sent to other services."),
            Counter(
                "service_replies_late", calls.reduce(0) { $0 + $1.lateReplies },
                help: "Replies of other services that came after their deadline."),
            Counter(
                "service_replies_unreadable", calls.reduce(0) { $0 + $1.unreadableReplies },
                help: "Replies of other services that name no request."),
        ]
    }

    /// Hears the events of another service.
    func listen(
        to service: ServiceName, _ handler: @escaping @ServiceLoop (EventNotice) -> Void
    ) throws {
        let endpoint = try Installation.endpoint(
            installation.settings.eventsEndpoint(of: service))
        let subscriber = Subscriber(
            loop: loop, context: context, endpoint: endpoint,
            serverKey: try Self.key(of: service, installation), identity: installation.identity
        ) { notice in
            switch notice {
            case .connected: handler(.connected)
            case .disconnected, .unadmitted: handler(.disconnected)
            case .event(let frames): handler(.event(frames.first ?? []))
            }
        }
        subscribers.append(subscriber)
    }

    /// Ends the start where a key that nobody knows is let in by one of the doors.
    func tryUnknownKey(clock: any BootClock) throws(ProgramError) {
        var doors = [(requests.endpoint, forEvents: false)]
        if let publisher { doors.append((publisher.endpoint, forEvents: true)) }
        for (text, forEvents) in doors {
            let verdict: UnknownKeyTrial.Verdict
            do {
                verdict = try UnknownKeyTrial.run(
                    endpoint: try Installation.endpoint(text),
                    serverKey: installation.identity.publicKey, forEvents: forEvents, clock: clock)
            } catch let error as ProgramError {
                throw error
            } catch {
                throw .failed("\(error).")
            }
            guard verdict == .refused else {
                throw .failed("The service's own door \(text) does not refuse an unknown key.")
            }
        }
    }

    /// Removes the socket files, so that clients of a stopped service are told at once.
    func unlinkSockets() {
        for endpoint in [installation.endpoint, installation.events] {
            if let path = endpoint.path { unlink(path) }
        }
    }

    private static func key(
        of service: ServiceName, _ installation: Installation
    ) throws(ProgramError) -> PeerKey {
        guard let key = installation.serverKeys[service] else {
            throw .refused("There is no public key of \(service.text).")
        }
        return key
    }
}
