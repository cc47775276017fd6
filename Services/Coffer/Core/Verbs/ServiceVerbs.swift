internal import Wire

extension Verb {
    static let metrics = Verb(
        "metrics", arguments: [.required("SERVICE")],
        summary: "Print a service's counters as Prometheus text.",
        help: "SERVICE is a name such as `wallet-vault`, or `limiter`, `authority`, `vault`."
    ) { run throws(CommandFailure) in try run.metrics(of: run.service()) }

    static let probe = Verb(
        "probe", arguments: [.required("SERVICE")],
        summary: "Ask a service how it is.",
        help: """
            Ends with 0 only where the service is healthy. SERVICE is a name such as \
            `wallet-vault`, or `limiter`, `authority`, `vault`.
            """
    ) { run throws(CommandFailure) in
        let tag = try run.service()
        try run.refuseSilent(tag.service)
        let health = try run.caller().health(tag)
        var rows = [
            ["service", health.service], ["version", health.version],
            ["healthy", health.healthy ? "yes" : "no"],
            ["up", ShownText.seconds(health.upMilliseconds)],
            ["owners", String(health.owners)], ["schema", String(health.schema)],
        ]
        if let problem = health.problem { rows.append(["problem", ShownText.printable(problem)]) }
        return Report(
            TextTable.lines(rows), exitCode: health.healthy ? .done : .internalError
        ) { health.write(to: &$0) }
    }

    static let outcome = Verb(
        "outcome", arguments: [.required("SERVICE"), .required("KEY")],
        summary: "Ask what became of a change.",
        help: """
            KEY is the idempotency key that a command named when it could not find out. Ends with \
            0 where the change was made, 7 where it was not, 8 where it is still under way. A key \
            that the service never saw is written off, so that a late copy does nothing.
            """
    ) { run throws(CommandFailure) in
        let tag = try run.service()
        guard let key = IdempotencyKey(run.invocation.arguments[1]) else {
            throw .usage("KEY wants 32 hexadecimal digits in lower case.")
        }
        let reply = try run.caller().outcome(of: key, tag.service)
        return Report(outcomeText(reply), exitCode: outcomeExit(reply)) { reply.write(to: &$0) }
    }
}

private func outcomeText(_ reply: OutcomeReply) -> String {
    switch reply.status {
    case .done: "The change was made."
    case .inFlight: "The change is still under way."
    case .rejected:
        "The change was not made. "
            + ServiceCaller.rejected(reply.code ?? "").refusal.message
    }
}

private func outcomeExit(_ reply: OutcomeReply) -> ExitCode {
    switch reply.status {
    case .done: .done
    case .rejected: .refused
    case .inFlight: .outcomeUnknown
    }
}

extension CommandRun {
    fileprivate func service() throws(CommandFailure) -> any ServiceTag.Type {
        guard let tag = KnownServices.tag(invocation.arguments[0]) else {
            throw .usage(
                "SERVICE wants one of "
                    + KnownServices.names.map(\.text).joined(separator: ", ") + ".")
        }
        return tag
    }

    /// Tells at once that nobody listens.
    fileprivate func refuseSilent(_ service: ServiceName) throws(CommandFailure) {
        let isSilent = try parts.isSilent(home(), service)
        if isSilent { throw ServiceCaller.unreachable(service) }
    }

    fileprivate func metrics<Tag: ServiceTag>(
        of tag: Tag.Type
    ) throws(CommandFailure) -> Report {
        try refuseSilent(tag.service)
        let reply = try caller().call(Metrics<Tag>()).reply
        var text = reply.text
        if text.hasSuffix("\n") { text.removeLast() }
        return Report(text) { writer in
            writer.identifier("service", tag.service)
            reply.write(to: &writer)
        }
    }
}
