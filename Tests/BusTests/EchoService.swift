import Clocks
import Loop
import Secrets
import Testing
import Wire

@testable import Bus

/// A service on real sockets that answers every request with what it was sent.
@ServiceLoop
final class EchoService {
    let scratch = Scratch()
    let loop: BusLoop
    let context: Context
    let folder: PeerFolder
    let table: PeerTable
    let identity: CurveKeyPair
    let zap: ZAPHandler
    let endpoint: Endpoint
    private(set) var socket: RequestSocket?
    private var source: BusLoop.Source?
    /// All that came, good or not.
    var received: [Incoming] = []
    /// Answers; by default with the frames of the request.
    var answer: @ServiceLoop (Incoming, EchoService) -> Void = { $1.echo($0) }

    init(limits: BusLimits = .init(), endpoint: Endpoint? = nil) throws {
        loop = try TestLoop.current
        context = try Context()
        folder = PeerFolder(path: scratch.folder("peers"))
        table = PeerTable(folder: folder)
        identity = try #require(CurveKeyPair.generate())
        zap = try ZAPHandler(context: context, peers: table)
        self.endpoint = try endpoint ?? Endpoint(checking: "ipc://\(scratch.path)/echo.sock")
        try open(limits)
    }

    isolated deinit { close() }

    func open(_ limits: BusLimits = .init()) throws {
        let socket = try RequestSocket(
            context: context, endpoint: endpoint, identity: identity, limits: limits)
        self.socket = socket
        source = loop.add(readable: socket) { [weak self] in
            guard let self else { return }
            for request in socket.receive(limit: 64) {
                received.append(request)
                answer(request, self)
            }
        }
    }

    func close() {
        if let source { loop.remove(source) }
        source = nil
        socket = nil
    }

    /// Closes, and waits until libzmq has done so, in a thread of its own.
    func closed() async {
        close()
        _ = await wait { [path = endpoint.path ?? ""] in UnixSocket(connectingTo: path) == nil }
    }

    func echo(_ request: Incoming) {
        let id = RequestHeader.id(ofUnreadable: request.header) ?? 0
        switch request.content {
        case .success(let frames):
            reply(id: id, .ok, frames.body, frames.attachments, to: request.route)
        case .failure(let fault):
            reply(id: id, .error, Array(fault.rawValue.utf8), [], to: request.route)
        }
    }

    func reply(
        id: UInt64, _ status: ReplyHeader.Status, _ body: [UInt8], _ attachments: [SharedSecret],
        to route: [UInt8]
    ) {
        let header = ReplyHeader(id: id, status: status).encode()
        socket?.send(ReplyFrames(header: header, body: body, attachments: attachments), to: route)
    }

    /// Enters a new peer.
    func admit(_ name: String, role: Role = .app) throws -> CurveKeyPair {
        let pair = try #require(CurveKeyPair.generate())
        try folder.add(
            PeerEntry(
                name: name, key: pair.publicKey, role: role, owners: .all, mayDestroy: false))
        return pair
    }

    func link(_ identity: CurveKeyPair, settings: LinkSettings = .init()) throws -> ServiceLink {
        ServiceLink(
            loop: loop, context: try Context(), endpoint: endpoint,
            serverKey: self.identity.publicKey, identity: identity, settings: settings)
    }

    /// A bare client connection, for what a link would never do.
    func client(
        _ identity: CurveKeyPair, configure: (Socket) throws(BusError) -> Void = { _ in }
    ) throws -> Socket {
        let socket = try Socket(.dealer, in: try Context())
        try socket.secureClient(identity, serverKey: self.identity.publicKey)
        try configure(socket)
        try socket.connect(endpoint.text)
        return socket
    }

    /// Lets the loop work until something holds, or five seconds are over.
    func wait(until condition: @ServiceLoop () -> Bool) async -> Bool {
        for _ in 0..<1_000 {
            if condition() { return true }
            await loop.timers.sleep(milliseconds: 5)
        }
        return condition()
    }
}

func request(
    _ id: UInt64, body: [UInt8] = Array("{}".utf8), attachments: [[UInt8]] = []
) -> RequestFrames {
    guard let owner = Owner("local") else { fatalError("no owner") }
    let header = RequestHeader(
        id: id, method: "echo.echo", owner: owner, timeoutMilliseconds: 5_000)
    return RequestFrames(
        header: header.encode(), body: body,
        attachments: attachments.map { SharedSecret(SecretBytes(copying: $0)) })
}

func bytes(_ secret: SharedSecret) -> [UInt8] { secret.bytes.withBytes { Array($0) } }
