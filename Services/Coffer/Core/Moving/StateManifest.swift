internal import Wire

/// What a state export holds: the stores of services, in this order, each in the one file that a
/// service at rest has.
struct StateManifest: Equatable {
    struct Store: Equatable {
        let service: ServiceName
        let bytes: Int
    }

    /// No manifest is longer, in bytes.
    static let byteCountMax = 65_536

    /// Seconds since 1970.
    let made: UInt64
    let stores: [Store]

    init(made: UInt64, stores: [Store]) {
        self.made = made
        self.stores = stores
    }

    init(decoding bytes: [UInt8]) throws(SealedState.Fault) {
        var named: [(service: String, bytes: Int)] = []
        let version: Int
        do throws(JSONError) {
            let object = try JSONDocument(bytes, limit: Self.byteCountMax).object()
            version = try object.integer("version")
            made = try object.uint64("made")
            for store in try object.objects("stores") {
                named.append((try store.string("service"), try store.integer("bytes")))
            }
        } catch {
            throw .damaged
        }
        guard version == 1 else { throw .newerRelease }
        var stores: [Store] = []
        for store in named {
            guard let service = ServiceName(store.service) else { throw .newerRelease }
            stores.append(Store(service: service, bytes: store.bytes))
        }
        self.stores = stores
        guard stores.allSatisfy({ $0.bytes >= 0 }),
            Set(stores.map(\.service)).count == stores.count
        else { throw .damaged }
    }

    func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.integer("version", 1)
        writer.uint64("made", made)
        writer.objects("stores", stores) { writer, store in
            writer.identifier("service", store.service)
            writer.integer("bytes", store.bytes)
        }
        return writer.finish()
    }
}
