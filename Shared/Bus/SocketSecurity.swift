internal import CZMQ
internal import Secrets
internal import Wire

/// The two ends of a CURVE link.
extension Socket {
    /// Makes the socket a server that admits nobody but whom the ZAP handler admits.
    ///
    /// Without `ZMQ_ZAP_ENFORCE_DOMAIN` a handler that is missing would admit everybody; a libzmq
    /// that does not know the option is refused.
    func secureServer(_ identity: CurveKeyPair, domain: ZAPDomain) throws(BusError) {
        try set(ZMQ_CURVE_SERVER, 1)
        try set(ZMQ_CURVE_SECRETKEY, identity.secret)
        try set(ZMQ_ZAP_DOMAIN, Array(domain.name.utf8))
        try set(Self.enforceDomain, 1)
    }

    /// `ZMQ_ZAP_ENFORCE_DOMAIN`, which libzmq's header hides among its drafts.
    private static let enforceDomain: Int32 = 93

    /// Makes the socket a client of one server, whose key it knows.
    func secureClient(_ identity: CurveKeyPair, serverKey: PeerKey) throws(BusError) {
        try set(ZMQ_CURVE_SERVERKEY, serverKey.bytes)
        try set(ZMQ_CURVE_PUBLICKEY, identity.publicKey.bytes)
        try set(ZMQ_CURVE_SECRETKEY, identity.secret)
    }

    /// Sets what both ends limit.
    func limit(_ limits: BusLimits) throws(BusError) {
        try set(ZMQ_MAXMSGSIZE, Int64(limits.messageBytesMax))
        try set(ZMQ_RCVHWM, limits.receiveQueue)
        try set(ZMQ_SNDHWM, limits.sendQueue)
        try set(ZMQ_HANDSHAKE_IVL, limits.handshakeMilliseconds)
        try set(ZMQ_HEARTBEAT_IVL, limits.heartbeatMilliseconds)
        try set(ZMQ_HEARTBEAT_TIMEOUT, limits.heartbeatMilliseconds)
    }
}
