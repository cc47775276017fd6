internal import Bus
internal import Clocks
internal import Glibc
internal import Home
internal import Wire

/// One exchange with a service: what the bus does, or a test in its place.
protocol FrameExchange: AnyObject {
    func exchange(
        _ request: RequestFrames, timeoutMilliseconds: UInt64
    ) throws(BusFault) -> ReplyFrames
}

extension BlockingLink: FrameExchange {}

/// The installation that the command works with: its settings, its own key, the services' keys.
struct ClientInstallation {
    /// What the command calls itself among keys and peers.
    static let name = "coffer"

    let home: Home
    let settings: Settings

    /// - Throws: `coffer.no_installation` where there is none, `coffer.installation` where it
    ///   cannot be used.
    init(home: Home) throws(CommandFailure) {
        guard access(home.secretKeyPath(of: Self.name), F_OK) == 0 else {
            throw CommandFailure(
                .noInstallation,
                "There is no installation in `\(home.path)`. `deploy/launch up` makes and starts "
                    + "one.")
        }
        self.home = home
        do {
            settings = try Settings.read(of: home)
        } catch {
            throw CommandFailure(.installation, error.sentence)
        }
    }

    /// The links to services, made when they are needed.
    func links(clock: any BootClock) throws(CommandFailure) -> ServiceLinks {
        do {
            return ServiceLinks(
                installation: self, context: try Context(),
                identity: try CertificateFile.readSecret(home.secretKeyPath(of: Self.name)),
                clock: clock)
        } catch {
            throw CommandFailure(.installation, "\(error).")
        }
    }

    func endpoint(of service: ServiceName) throws(CommandFailure) -> Endpoint {
        let text = settings.endpoint(of: service)
        do throws(EndpointError) {
            return try Endpoint(checking: text)
        } catch {
            throw CommandFailure(.installation, "\(text): \(error).")
        }
    }

    /// Whether nobody listens on a socket of this machine; false where that cannot be told.
    func isSilent(_ service: ServiceName) throws(CommandFailure) -> Bool {
        guard let path = try endpoint(of: service).path else { return false }
        return !SocketFile.takesConnections(path)
    }
}

/// Connections to services, each made once and kept.
final class ServiceLinks {
    private let installation: ClientInstallation
    private let context: Context
    private let identity: CurveKeyPair
    private let clock: any BootClock
    private var links: [ServiceName: BlockingLink] = [:]

    init(
        installation: ClientInstallation, context: Context, identity: CurveKeyPair,
        clock: any BootClock
    ) {
        self.installation = installation
        self.context = context
        self.identity = identity
        self.clock = clock
    }

    func link(to service: ServiceName) throws(CommandFailure) -> any FrameExchange {
        if let link = links[service] { return link }
        let key: PeerKey
        do throws(CertificateError) {
            let path = installation.home.publicKeyPath(of: service.text)
            key = try CertificateFile.readPublic(path).key
        } catch {
            throw CommandFailure(.installation, "\(error).")
        }
        let link = BlockingLink(
            context: context, endpoint: try installation.endpoint(of: service), serverKey: key,
            identity: identity, clock: clock)
        links[service] = link
        return link
    }
}
