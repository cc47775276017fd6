internal import Clocks
internal import Glibc
internal import Home
internal import Secrets
internal import StateFolders
internal import WholeFiles
internal import Wire

/// Writes the stores of all services into one sealed file.
struct StateExport {
    private let run: CommandRun
    private let home: Home
    private let path: String
    private let programs: [ServiceName: String]

    /// Checks first what can be checked.
    init(_ run: CommandRun) throws(CommandFailure) {
        self.run = run
        home = try run.home(with: \.statesPath)
        path = run.invocation[.newFile] ?? ""
        try run.checkNew(path)
        programs = try ServicePrograms.find(.stateFailed)
    }

    func report() throws(CommandFailure) -> Report {
        let manifest = try HomeLock.holding(home) { () throws(CommandFailure) in try write() }
        let path = path
        let size = StoreFile.size(path) ?? 0
        let text =
            "\(path): the state of \(manifest.stores.count) services, \(size) bytes. Whoever has "
            + "this file and its passphrase has what both databases give."
        return Report(text) { writer in
            writer.string("file", path)
            writer.integer("bytes", size)
            writer.objects("stores", manifest.stores) { writer, store in
                writer.identifier("service", store.service)
                writer.integer("bytes", store.bytes)
            }
        }
    }

    private func write() throws(CommandFailure) -> StateManifest {
        try StateSwap(home).recover()
        let locks = try StateLocks(in: home.statesPath)
        let stores = try restingStores(locks)
        guard !stores.isEmpty else {
            throw CommandFailure(.stateFailed, "No service keeps anything in `\(home.path)` yet.")
        }
        let passphrase = try run.secret(
            SecretQuestion(
                description: "Choose a passphrase for `\(path)`. It alone protects what is in it.",
                prompt: "Passphrase", isNew: true, option: .statePassphrase))
        let manifest = StateManifest(
            made: SystemWallClock().milliseconds / 1_000, stores: stores)
        try seal(manifest, passphrase, locks)
        return manifest
    }

    /// The stores that there are, each in one file.
    private func restingStores(_ locks: StateLocks) throws(CommandFailure) -> [StateManifest.Store]
    {
        var stores: [StateManifest.Store] = []
        for service in KnownServices.names {
            guard let folder = locks.folders[service],
                StoreFile.size(folder.path(of: Home.storeName)) != nil
            else { continue }
            try StoreFile.settle(service, ["settle", folder.path], by: programs)
            let bytes = StoreFile.size(folder.path(of: Home.storeName)) ?? 0
            stores.append(StateManifest.Store(service: service, bytes: bytes))
        }
        return stores
    }

    private func seal(
        _ manifest: StateManifest, _ passphrase: SharedSecret, _ locks: StateLocks
    ) throws(CommandFailure) {
        let salt = run.parts.random.bytes(SealedState.saltBytes)
        do {
            let key = try SealedState.key(passphrase: passphrase.bytes, salt: salt)
            try WholeFiles.write(to: path, random: run.parts.random) { write in
                try Self.fill(manifest, locks, salt: salt, key: key, sink: write)
            } check: { read in
                try Self.readBack(manifest, key: key, read)
            }
        } catch let error as CommandFailure {
            throw error
        } catch let error as WholeFileError {
            throw CommandFailure(error)
        } catch let error as SealedState.Fault {
            throw CommandFailure(
                .fileNotWritten, "\(path) does not read back as it was written (\(error)).")
        } catch {
            throw CommandFailure(.internalError)
        }
    }

    private static func fill(
        _ manifest: StateManifest, _ locks: StateLocks, salt: [UInt8],
        key: borrowing SecretBytes, sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try withoutActuallyEscaping(sink) { sink in
            var sealer = try StateSealer(salt: salt, key: key.copy(), sink: sink)
            let head = manifest.encoded()
            let length = (0..<4).map { UInt8(truncatingIfNeeded: head.count >> (24 - 8 * $0)) }
            try (length + head).withUnsafeBytes { try sealer.append($0) }
            for store in manifest.stores {
                guard let folder = locks.folders[store.service] else { continue }
                try StoreFile.read(folder.path(of: Home.storeName), bytes: store.bytes) { piece in
                    try piece.withBytes { try sealer.append($0) }
                }
            }
            try sealer.finish()
        }
    }

    /// Opens all of what was written, as an import will.
    private static func readBack(
        _ manifest: StateManifest, key: borrowing SecretBytes,
        _ read: (Int, Int) throws -> [UInt8]
    ) throws {
        try withoutActuallyEscaping(read) { read in
            var offset = SealedState.headBytes
            var opener = StateOpener(head: try read(offset, 0), key: key.copy()) { count in
                let bytes = try read(count, offset)
                offset += bytes.count
                return bytes
            }
            guard try StateManifest(openedBy: &opener) == manifest else {
                throw SealedState.Fault.damaged
            }
            for store in manifest.stores {
                var left = store.bytes
                while left > 0 { left -= try opener.next(limit: left).count }
            }
            try opener.finish()
        }
    }
}

extension StateManifest {
    /// Reads the manifest that a sealed stream begins with.
    init(openedBy opener: inout StateOpener) throws {
        let length = try opener.take(4).withBytes { $0.reduce(0) { $0 << 8 | Int($1) } }
        guard length <= Self.byteCountMax else { throw SealedState.Fault.damaged }
        try self.init(decoding: opener.take(length).withBytes { Array($0) })
    }
}
