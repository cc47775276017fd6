internal import Glibc
internal import Home
internal import Secrets
internal import StateFolders
internal import Wire

/// Puts the stores of an export in the place of a home's state.
struct StateImport {
    private let run: CommandRun
    private let home: Home
    private let path: String
    private let programs: [ServiceName: String]
    private let swap: StateSwap

    /// Checks first what can be checked.
    init(_ run: CommandRun) throws(CommandFailure) {
        self.run = run
        home = try run.home(with: \.statesPath)
        path = run.invocation.arguments[0]
        programs = try ServicePrograms.find(.stateFailed)
        swap = StateSwap(home)
    }

    func report() throws(CommandFailure) -> Report {
        let (manifest, aside) = try HomeLock.holding(home) { () throws(CommandFailure) in
            try replace()
        }
        var lines = [
            "Imported the state of \(manifest.stores.count) services, exported "
                + "\(ShownText.moment(manifest.made)) UTC.",
            "It counts as one that was put back: the next passcode is taken in a minute, and a "
                + "wrong one is followed by another minute.",
        ]
        if let aside { lines.append("The state of before is in \(aside).") }
        return Report(lines.joined(separator: "\n")) { writer in
            writer.uint64("exported", manifest.made)
            writer.identifiers("services", manifest.stores.map(\.service))
            writer.optionalString("moved_aside", aside)
        }
    }

    private func replace() throws(CommandFailure) -> (StateManifest, aside: String?) {
        try swap.recover()
        // Until the end, so that no service begins on either of the two.
        let present = try StateLocks(in: home.statesPath)
        let file = try ExportFile(path)
        let passphrase = try run.secret(
            SecretQuestion(
                description: "The passphrase of \(path) is needed.", prompt: "Passphrase",
                isNew: false, option: .statePassphrase))
        let key: SecretBytes
        do {
            key = try SealedState.key(passphrase: passphrase.bytes, salt: file.salt)
        } catch {
            throw CommandFailure(.internalError)
        }
        try confirm()
        do throws(CommandFailure) {
            try swap.begin()
            let arrived = try StateLocks(in: swap.incomingPath)
            let manifest = try unpack(file, key: key, into: arrived)
            try arrived.give(like: present)
            for store in manifest.stores { try arrive(store.service, arrived, over: present) }
            let aside = try withExtendedLifetime(arrived) { () throws(CommandFailure) in
                try swap.commit()
            }
            return (manifest, aside)
        } catch {
            // Before the exchange this undoes it; after it there is nothing to undo.
            try? swap.recover()
            throw error
        }
    }

    private func confirm() throws(CommandFailure) {
        guard StateSwap.isState(home.statesPath), !run.invocation.has(.yes) else { return }
        let typed = try run.parts.person.line(
            "\(home.path) has a state. Type `replace` to move it aside:", insteadOf: .yes)
        guard typed == "replace" else { throw CommandFailure(.notConfirmed) }
    }

    /// Writes the stores of the export into the new folders, and sees that there is nothing else.
    private func unpack(
        _ file: ExportFile, key: borrowing SecretBytes, into arrived: StateLocks
    ) throws(CommandFailure) -> StateManifest {
        do {
            var opener = StateOpener(head: file.head, key: key.copy(), source: file.next)
            let manifest = try StateManifest(openedBy: &opener)
            for store in manifest.stores {
                guard let folder = arrived.folders[store.service] else { continue }
                try StoreFile.write(folder.path(of: Home.storeName), bytes: store.bytes) { limit in
                    try opener.next(limit: limit)
                }
            }
            try opener.finish()
            return manifest
        } catch let error as CommandFailure {
            throw error
        } catch let error as SealedState.Fault {
            throw file.failure(error)
        } catch {
            throw CommandFailure(.internalError)
        }
    }

    /// The service's own program makes of the store what may take the place of the present one.
    private func arrive(
        _ service: ServiceName, _ arrived: StateLocks, over present: StateLocks
    ) throws(CommandFailure) {
        guard let folder = arrived.folders[service], let standing = present.folders[service] else {
            return
        }
        try StoreFile.settle(
            service, ["arrive", folder.path, standing.path], by: programs)
    }
}

/// An export as it lies on the disk.
private final class ExportFile {
    let head: [UInt8]
    let salt: [UInt8]
    private let path: String
    private let descriptor: Int32

    init(_ path: String) throws(CommandFailure) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .fileUnreadable, "\(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        do {
            head = try Self.read(SealedState.headBytes, of: descriptor)
            salt = try StateOpener.salt(of: head)
        } catch {
            close(descriptor)
            throw CommandFailure(.damagedFile, "\(path) is no export of a state.")
        }
    }

    deinit { close(descriptor) }

    /// The next bytes, fewer than `count` only at the end.
    func next(_ count: Int) throws -> [UInt8] { try Self.read(count, of: descriptor) }

    func failure(_ fault: SealedState.Fault) -> CommandFailure {
        switch fault {
        case .otherFile:
            CommandFailure(.damagedFile, "\(path) is no export of a state.")
        case .wrongPassphrase:
            CommandFailure(
                .wrongPassphrase,
                "That passphrase does not open \(path), or its beginning was changed. Nothing was "
                    + "changed.")
        case .damaged:
            CommandFailure(
                .damagedFile, "\(path) was changed or is not whole. Nothing was changed.")
        case .newerRelease:
            CommandFailure(
                .damagedFile,
                "\(path) was made by a newer release: import it with that one. Nothing was "
                    + "changed.")
        }
    }

    private static func read(_ count: Int, of descriptor: Int32) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { target in
                Glibc.read(
                    descriptor, target.baseAddress.map { $0 + filled }, target.count - filled)
            }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else {
                throw CommandFailure(
                    .fileUnreadable,
                    "The export cannot be read: \(String(cString: strerror(errno))).")
            }
            guard got > 0 else { break }
            filled += got
        }
        return Array(bytes[..<filled])
    }
}
