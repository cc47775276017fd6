/// What a socket takes before it refuses.
public struct BusLimits: Equatable, Sendable {
    /// Bytes of one frame.
    ///
    /// A larger one is refused with an answer, one of more than twice the size by ending the
    /// connection.
    public var frameBytes: Int
    /// Attachments of one request or reply.
    public var attachmentCount: Int
    /// Messages that wait to be received, from one peer.
    public var receiveQueue: Int
    /// Replies or events that wait to be sent, to one peer.
    public var sendQueue: Int
    /// How long a handshake may take.
    public var handshakeMilliseconds: Int
    /// Connections that wait to be accepted.
    public var backlog: Int
    /// How often a silent peer is asked whether it lives; it has as long to answer.
    public var heartbeatMilliseconds: Int

    public init(
        frameBytes: Int = 65_536, attachmentCount: Int = 4, receiveQueue: Int = 256,
        sendQueue: Int = 256, handshakeMilliseconds: Int = 5_000, backlog: Int = 128,
        heartbeatMilliseconds: Int = 10_000
    ) {
        self.frameBytes = frameBytes
        self.attachmentCount = attachmentCount
        self.receiveQueue = receiveQueue
        self.sendQueue = sendQueue
        self.handshakeMilliseconds = handshakeMilliseconds
        self.backlog = backlog
        self.heartbeatMilliseconds = heartbeatMilliseconds
    }

    /// Where libzmq ends the connection: above what the socket itself answers.
    var messageBytesMax: Int { 2 * frameBytes + 1_024 }
}
