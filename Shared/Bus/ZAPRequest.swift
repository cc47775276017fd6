internal import Wire

/// A question of libzmq to its ZAP handler (ZeroMQ RFC 27, version 1.0, mechanism CURVE).
struct ZAPRequest: Equatable {
    let id: [UInt8]
    let domain: String
    let key: PeerKey

    /// Nil where the frames are not exactly version, id, domain, address, routing id, mechanism
    /// and one key.
    init?(_ frames: [[UInt8]]) {
        guard frames.count == 7, frames[0] == Self.version, frames[1].count <= 255,
            frames[2].count <= 255, frames[5] == Array("CURVE".utf8),
            let key = PeerKey(frames[6])
        else { return nil }
        id = frames[1]
        domain = String(decoding: frames[2], as: UTF8.self)
        self.key = key
    }

    static let version = Array("1.0".utf8)
}

/// The handler's answer.
enum ZAPReply: Equatable {
    case admitted(PeerKey)
    case unknown
    case malformed

    /// Version, id, status, text, user id, metadata; the text is for nobody.
    func frames(id: [UInt8]) -> [[UInt8]] {
        [ZAPRequest.version, id, Array(status.utf8), [], user, []]
    }

    /// 400 is told to the client, which can then say why it was refused; so is 500.
    private var status: String {
        switch self {
        case .admitted: "200"
        case .unknown: "400"
        case .malformed: "500"
        }
    }

    private var user: [UInt8] {
        guard case .admitted(let key) = self else { return [] }
        return Array(key.z85.utf8)
    }
}

/// Which peers a server socket is for.
public enum ZAPDomain: Sendable, CaseIterable {
    /// Requests: every peer that is known.
    case requests
    /// Events: services only.
    case events

    /// The name that libzmq hands to the handler.
    var name: String {
        switch self {
        case .requests: "coffer.requests"
        case .events: "coffer.events"
        }
    }

    func admits(_ role: Role) -> Bool {
        switch self {
        case .requests: true
        case .events: role.kind == .service
        }
    }
}
