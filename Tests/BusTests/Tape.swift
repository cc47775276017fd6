import Glibc
import Loop
import Synchronization
import Testing

/// A wire to a server's local socket that keeps all that goes over it, either way.
final class Tape {
    private let listener: UnixSocket
    private let reel = Reel()

    /// Listens at a path, and connects whoever connects there to a target, one after the other.
    init(at path: String, to target: String) throws {
        let listener = try #require(UnixSocket(bindingTo: path))
        listener.listen()
        self.listener = listener
        Thread.startDetached { [reel] in
            while let near = listener.accept() {
                guard let far = UnixSocket(connectingTo: target) else { continue }
                reel.carry(between: near, and: far)
            }
        }
    }

    deinit { listener.stop() }

    var bytes: [UInt8] { reel.bytes.withLock { $0 } }
}

/// What a tape has kept.
private final class Reel: Sendable {
    let bytes = Mutex<[UInt8]>([])

    /// Hands on what either end sends, until one has closed.
    func carry(between near: UnixSocket, and far: UnixSocket) {
        var ends = [near, far].map {
            pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
        }
        var piece = [UInt8](repeating: 0, count: 65_536)
        while poll(&ends, 2, -1) > 0 {
            for (from, to) in [(0, far), (1, near)] where ends[from].revents != 0 {
                let count = recv(ends[from].fd, &piece, piece.count, 0)
                guard count > 0 else { return }
                bytes.withLock { $0 += piece[..<count] }
                guard to.send(Array(piece[..<count])) else { return }
            }
        }
    }
}
