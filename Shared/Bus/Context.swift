internal import CZMQ
internal import Glibc

/// A process's share in ZeroMQ: its input and output thread and its in-process names.
///
/// Every socket holds the context, so it ends after the last socket, by itself.
public final class Context: @unchecked Sendable {
    // Safe to send: libzmq's contexts may be used from any thread.
    let handle: UnsafeMutableRawPointer

    public init() throws(BusError) {
        guard let handle = zmq_ctx_new() else { throw .exhausted(code: zmq_errno()) }
        self.handle = handle
        // Without it an unsent message could hold up the end of the process.
        zmq_ctx_set(handle, ZMQ_BLOCKY, 0)
        // With it a frame of a few bytes holds, while it waits, the 8 KB that it came in: a peer
        // that sends empty parts has the process take two hundred times as much.
        guard zmq_ctx_set(handle, Self.zeroCopyReceive, 0) == 0 else {
            throw .unsupported(option: Self.zeroCopyReceive, code: zmq_errno())
        }
    }

    /// `ZMQ_ZERO_COPY_RECV`, which libzmq's header hides among its drafts.
    private static let zeroCopyReceive: Int32 = 10

    deinit { while zmq_ctx_term(handle) != 0 && zmq_errno() == EINTR {} }
}
