internal import ChildProcesses
internal import Home
internal import Wire

/// Moves an owner aside in every store, by the services' own programs.
struct OwnerPurge {
    private let owner: Owner
    private let home: Home
    private let programs: [(service: ServiceName, path: String)]

    private static let outputLimit = 65_536

    /// Checks first that all of it can be done, then asks for confirmation.
    init(_ run: CommandRun) throws(CommandFailure) {
        guard let owner = Owner(run.invocation.arguments[0]) else {
            throw .usage("OWNER wants 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        self.owner = owner
        home = try run.home()
        try Self.refuseRunning(run, home)
        let paths = try ServicePrograms.find(.purgeFailed)
        // The vault first: a wallet without its credential is of no use, the other way round it is.
        programs = KnownServices.names.reversed().compactMap { service in
            paths[service].map { (service, $0) }
        }
        guard !run.invocation.has(.yes) else { return }
        let typed = try run.parts.person.line(
            "Type `\(owner.text)` to move all of this owner aside:", insteadOf: .yes)
        guard typed == owner.text else { throw CommandFailure(.notConfirmed) }
    }

    func report() throws(CommandFailure) -> Report {
        var files: [(service: ServiceName, path: String)] = []
        for program in programs {
            do throws(CommandFailure) {
                let path = try purge(program.service, program.path)
                if let path { files.append((program.service, path)) }
            } catch {
                var failure = error
                failure.refusal.message += Self.remainder(after: files.map(\.service))
                throw failure
            }
        }
        guard !files.isEmpty else {
            throw CommandFailure(
                .unknownOwner, "No service keeps anything of owner \(owner.text).")
        }
        let lines = files.map { "\($0.service.text): \(ShownText.printable($0.path))" }
        let owner = owner
        return Report("Moved aside:\n" + lines.joined(separator: "\n")) { writer in
            writer.identifier("owner", owner)
            writer.objects("moved", files) { writer, file in
                writer.identifier("service", file.service)
                writer.string("file", file.path)
            }
        }
    }

    /// - Returns: the file that now holds what the service kept; nil where it kept nothing.
    private func purge(
        _ service: ServiceName, _ path: String
    ) throws(CommandFailure) -> String? {
        guard let child = ChildProcess([path, "purge", owner.text, "--home", home.path]) else {
            throw CommandFailure(.purgeFailed, "\(path) cannot be started.")
        }
        let output = child.readAll(limit: Self.outputLimit)
        guard child.wait() == 0 else {
            throw CommandFailure(
                .purgeFailed, "\(service.text) did not move the owner aside and said why.")
        }
        return Self.file(in: output)
    }

    /// The file that a service's program names in its last line; nil where it says `nothing`.
    static func file(in output: [UInt8]) -> String? {
        let last = String(decoding: output.split(separator: 0x0A).last ?? [], as: UTF8.self)
        return last == "nothing" ? nil : last
    }

    private static func remainder(after moved: [ServiceName]) -> String {
        guard !moved.isEmpty else { return " Nothing was moved." }
        return " Moved aside already: " + moved.map(\.text).joined(separator: ", ")
            + ". Purge again when it is mended."
    }

    /// A service that runs holds its store; all must be silent before anything is moved.
    private static func refuseRunning(
        _ run: CommandRun, _ home: Home
    ) throws(CommandFailure) {
        for tag in KnownServices.tags where try isRunning(tag, run, home) {
            throw CommandFailure(
                .servicesRunning,
                "\(tag.service.text) runs. Stop the services with `deploy/launch down` first.")
        }
    }

    private static func isRunning<Tag: ServiceTag>(
        _ tag: Tag.Type, _ run: CommandRun, _ home: Home
    ) throws(CommandFailure) -> Bool {
        if try run.parts.isSilent(home, tag.service) { return false }
        do throws(CommandFailure) {
            _ = try run.caller().health(tag)
            return true
        } catch {
            // One that answers with a refusal runs too.
            return error.code != BusFault.unreachable.rawValue
        }
    }
}
