internal import CZMQ
internal import Glibc

/// One thing to wait for.
typealias PollItem = zmq_pollitem_t

extension zmq_pollitem_t {
    static func reading(_ socket: Socket) -> PollItem {
        PollItem(socket: socket.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0)
    }

    static func reading(_ descriptor: Int32) -> PollItem {
        PollItem(socket: nil, fd: descriptor, events: Int16(ZMQ_POLLIN), revents: 0)
    }

    /// Whether the last wait found something to read, or an error.
    var isReady: Bool { revents != 0 }

    /// Waits until one of the items has something to read, a signal comes, or the time is over.
    ///
    /// libzmq's own descriptors are edge-triggered; `zmq_poll` looks at the sockets behind them.
    ///
    /// - Parameter milliseconds: -1 waits without end.
    static func wait(for items: inout [PollItem], milliseconds: Int) {
        let count = items.count
        let code = items.withUnsafeMutableBufferPointer { buffer in
            zmq_poll(buffer.baseAddress, Int32(count), milliseconds)
        }
        guard code < 0 else { return }
        precondition(zmq_errno() == EINTR, "a socket ended while it was waited for")
        for index in items.indices { items[index].revents = 0 }
    }
}
