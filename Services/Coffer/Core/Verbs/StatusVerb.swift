internal import AuthorityMessages
internal import Wire

extension Verb {
    static let status = Verb(
        "status", options: [.namespace],
        summary: "Show services, passcode, sessions and failed attempts.",
        help: """
            Asks every service how it is, and the authority how the owner stands. Needs no \
            passcode. Ends with 6 where a service cannot be reached, with 1 where one is not well.
            """
    ) { run throws(CommandFailure) in try StatusReport(of: run).report() }
}

extension AskStatus.Reply {
    /// For people: what the limiter knows, where it could be asked.
    var shownFailed: String { limiterAnswers ? String(failed) : Self.notKnown }
    var shownWait: String {
        limiterAnswers ? ShownText.seconds(remainingMilliseconds) : Self.notKnown
    }

    private static var notKnown: String { "not known, the attempt limiter does not answer" }
}

/// Everything that `status` shows, gathered.
private struct StatusReport {
    private struct Line {
        let service: ServiceName
        let health: Result<HealthReply, CommandFailure>
    }

    private let owner: Owner
    private let namespace: Namespace
    private let lines: [Line]
    private let credential: Result<AskStatus.Reply, CommandFailure>
    private let keepsToken: Bool

    /// All services together are asked within two seconds.
    private static let healthMilliseconds: UInt64 = 400

    init(of run: CommandRun) throws(CommandFailure) {
        // Told once, not of each service.
        _ = try run.timeoutMilliseconds()
        owner = try run.owner()
        namespace = try run.namespace()
        let home = try run.home()
        var lines: [Line] = []
        for tag in KnownServices.tags {
            let health: Result<HealthReply, CommandFailure>
            do throws(CommandFailure) {
                let isSilent = try run.parts.isSilent(home, tag.service)
                guard !isSilent else { throw ServiceCaller.unreachable(tag.service) }
                health = .success(
                    try run.caller().health(tag, within: Self.healthMilliseconds))
            } catch {
                if error.code == ClientFault.noInstallation.rawValue { throw error }
                health = .failure(error)
            }
            lines.append(Line(service: tag.service, health: health))
        }
        self.lines = lines
        credential = try Self.credential(run, lines)
        keepsToken = try Self.keepsToken(run, namespace, credential)
    }

    /// Whether a session is kept that can still live; one that is over is dropped.
    ///
    /// The keyring forgets a token at the session's deadline. A session that was ended before it is
    /// known by the authority having none.
    private static func keepsToken(
        _ run: CommandRun, _ namespace: Namespace,
        _ credential: Result<AskStatus.Reply, CommandFailure>
    ) throws(CommandFailure) -> Bool {
        let tokens = try run.tokens()
        guard tokens.token(of: namespace) != nil, case .success(let status) = credential else {
            return false
        }
        guard status.sessions > 0 else {
            tokens.drop(namespace)
            return false
        }
        return true
    }

    /// The authority is asked only where it is there to answer.
    private static func credential(
        _ run: CommandRun, _ lines: [Line]
    ) throws(CommandFailure) -> Result<AskStatus.Reply, CommandFailure> {
        let authority = lines.first { $0.service == .credentialAuthority }
        if case .failure(let failure) = authority?.health { return .failure(failure) }
        do throws(CommandFailure) {
            return .success(try run.caller().call(AskStatus()).reply)
        } catch {
            return .failure(error)
        }
    }

    func report() -> Report {
        Report(text(), exitCode: exitCode()) { write(to: &$0) }
    }

    private func exitCode() -> ExitCode {
        for line in lines {
            switch line.health {
            case .success(let health) where !health.healthy: return .internalError
            case .success: continue
            case .failure(let failure): return failure.exitCode
            }
        }
        if case .failure(let failure) = credential { return failure.exitCode }
        return .done
    }

    // MARK: For people

    private func text() -> String {
        let rows = lines.map { line in
            switch line.health {
            case .success(let health):
                [
                    line.service.text, health.healthy ? "healthy" : "not healthy", health.version,
                    "up \(ShownText.seconds(health.upMilliseconds))",
                ]
            case .failure(let failure): [line.service.text, Self.state(failure)]
            }
        }
        var text = TextTable.lines([["SERVICE", "STATE", "VERSION"]] + rows)
        for problem in problems() { text += "\n\(problem)" }
        switch credential {
        case .success(let status): text += "\n\n" + self.text(status)
        case .failure(let failure):
            text += "\n\nowner \(owner.text): \(failure.refusal.message)"
        }
        return text
    }

    private static func state(_ failure: CommandFailure) -> String {
        switch failure.code {
        case BusFault.unreachable.rawValue: "not running"
        case BusFault.expired.rawValue: "does not answer"
        case BusFault.unadmitted.rawValue: "does not know this command"
        default: failure.code
        }
    }

    private func problems() -> [String] {
        lines.compactMap { line in
            switch line.health {
            case .success(let health):
                health.problem.map { "\(line.service.text): \(ShownText.printable($0))" }
            case .failure(let failure): failure.refusal.message
            }
        }
    }

    private func text(_ status: AskStatus.Reply) -> String {
        let rows = [
            ["owner", owner.text],
            ["passcode", status.kind.map { "set (\($0.text))" } ?? "not set"],
            ["unlocked", status.unlocked ? "yes" : "no"],
            ["sessions", String(status.sessions)],
            ["failed attempts", status.shownFailed], ["wait", status.shownWait],
        ]
        let kept = [
            "kept session", "\(keepsToken ? "yes" : "no") (namespace \(namespace.text))",
        ]
        let removal = status.removal.map { [["under way", "\($0.text), not finished"]] } ?? []
        return TextTable.lines(rows + FailedTries.rows(status.tries) + removal + [kept])
    }

    // MARK: For programs

    private func write(to writer: inout JSONWriter) {
        writer.identifier("owner", owner)
        writer.objects("services", lines) { writer, line in
            writer.identifier("service", line.service)
            switch line.health {
            case .success(let health):
                writer.bool("reachable", true)
                writer.bool("healthy", health.healthy)
                writer.string("version", health.version)
                writer.uint64("up_ms", health.upMilliseconds)
                writer.optionalString("problem", health.problem)
            case .failure(let failure):
                writer.bool("reachable", false)
                writer.bool("healthy", false)
                writer.object("error") { failure.refusal.write(to: &$0) }
            }
        }
        writer.object("credential") { writer in
            switch credential {
            case .success(let status): status.write(to: &writer)
            case .failure(let failure):
                writer.object("error") { failure.refusal.write(to: &$0) }
            }
        }
        writer.identifier("namespace", namespace)
        writer.bool("session_kept", keepsToken)
    }
}
