internal import Loop
internal import Synchronization
internal import Wire

/// Decides in a thread of its own who may connect to the sockets of one context.
///
/// Only CURVE keys that the table knows are admitted, and only to what their role is for; a
/// received message then carries the key as its `User-Id`. Start it before the first server socket
/// and keep it: without it those sockets admit nobody.
public final class ZAPHandler: Sendable {
    private let worker: ZAPWorker
    private let thread: Thread
    private let isStopped = Mutex(false)

    /// - Throws: `BusError.endpoint` where the context has a handler already.
    public init(context: Context, peers: PeerTable) throws(BusError) {
        let worker = try ZAPWorker(context: context, peers: peers)
        self.worker = worker
        do throws(Thread.Refused) { thread = try Thread { worker.run() } } catch {
            throw .exhausted(code: error.code)
        }
    }

    deinit { stop() }

    /// How many handshakes ended in which way since the start.
    public var counts: ZAPCounts { worker.counts.withLock { $0 } }

    /// Ends the thread; from then on nobody is admitted.
    public func stop() {
        isStopped.withLock { isStopped in
            guard !isStopped else { return }
            isStopped = true
            worker.bell.ring()
            thread.join()
        }
    }
}

/// How handshakes ended.
public struct ZAPCounts: Equatable, Sendable {
    public internal(set) var admitted: UInt64 = 0
    /// The key is not known, or not for this socket.
    public internal(set) var refused: UInt64 = 0
    public internal(set) var malformed: UInt64 = 0
}

private final class ZAPWorker: @unchecked Sendable {
    // Safe to send: the socket is touched by the maker, then by the thread alone.
    private var socket: Socket?
    private let peers: PeerTable
    /// Where libzmq asks (ZeroMQ RFC 27).
    private static let endpoint = "inproc://zeromq.zap.01"

    let bell: Bell
    let counts = Mutex(ZAPCounts())

    init(context: Context, peers: PeerTable) throws(BusError) {
        let socket = try Socket(.reply, in: context)
        try socket.bind(Self.endpoint)
        self.socket = socket
        self.peers = peers
        bell = try Bell()
    }

    func run() {
        guard let socket else { return }
        // A handshake that still found the name would wait for an answer until its time is over.
        defer {
            socket.unbind(Self.endpoint)
            self.socket = nil
        }
        var items = [PollItem.reading(socket), PollItem.reading(bell.descriptor)]
        while true {
            PollItem.wait(for: &items, milliseconds: -1)
            guard !items[1].isReady else { return }
            while let frames = socket.receiveMessage(partLimit: 16, byteLimit: 1_024) {
                answer(frames, on: socket)
            }
        }
    }

    private func answer(_ frames: [[UInt8]], on socket: Socket) {
        let request = ZAPRequest(frames)
        let reply = request.map(decide) ?? .malformed
        count(reply)
        let id = request?.id ?? (frames.count > 1 ? frames[1] : [])
        socket.sendMessage(reply.frames(id: id))
    }

    private func decide(_ request: ZAPRequest) -> ZAPReply {
        guard let domain = ZAPDomain.allCases.first(where: { $0.name == request.domain }),
            let entry = peers.entry(for: request.key), domain.admits(entry.role)
        else { return .unknown }
        return .admitted(request.key)
    }

    private func count(_ reply: ZAPReply) {
        counts.withLock { counts in
            switch reply {
            case .admitted: counts.admitted += 1
            case .unknown: counts.refused += 1
            case .malformed: counts.malformed += 1
            }
        }
    }
}
