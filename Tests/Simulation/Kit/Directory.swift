import Serving
import Wire

/// The peers of a simulated machine: the services, and two devices of every owner.
struct Directory: PeerDirectory {
    func entry(for key: PeerKey) -> PeerEntry? {
        let bytes = key.bytes
        if let service = service(of: key) {
            return PeerEntry(
                name: service.text, key: key, role: .service(service), owners: .all,
                mayDestroy: false)
        }
        guard bytes[0] == 2, let owner = Self.owner(bytes[1]) else { return nil }
        return PeerEntry(
            name: "device", key: key, role: .app, owners: .some([owner]), mayDestroy: true)
    }

    /// The service that has a key; nil for a client's.
    func service(of key: PeerKey) -> ServiceName? {
        ServiceName.allCases.first { Self.key(of: $0) == key }
    }

    static func key(of service: ServiceName) -> PeerKey {
        let place = ServiceName.allCases.firstIndex(of: service) ?? 0
        return key([1, UInt8(place), 0])
    }

    static func key(ofDevice device: Int, of owner: Int) -> PeerKey {
        key([2, UInt8(owner), UInt8(device)])
    }

    static func owner(_ number: UInt8) -> Owner? { Owner("owner-\(number)") }

    private static func key(_ head: [UInt8]) -> PeerKey {
        guard let key = PeerKey(head + [UInt8](repeating: 7, count: 29)) else {
            preconditionFailure("a key has 32 bytes")
        }
        return key
    }
}
