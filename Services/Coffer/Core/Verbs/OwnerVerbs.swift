internal import AuthorityMessages
internal import Wire

extension Verb {
    static let ownerList = Verb(
        "owner list",
        summary: "List owners, and which services know them.",
        help: """
            Lists those owners for whom this command may speak. An owner whom only one service \
            knows is pointed out: stores that do not belong together, or an owner half made or \
            half removed. An owner without a passcode whom only credential-authority knows is \
            none of these: that is how a reset leaves him. Nothing is changed.
            """
    ) { run throws(CommandFailure) in
        var known: [String: [ServiceName]] = [:]
        for tag in KnownServices.tags {
            for owner in try run.owners(known: tag) {
                known[owner, default: []].append(tag.service)
            }
        }
        var census = OwnerCensus(known: known)
        for one in census.lone where one.service == .credentialAuthority {
            if try run.isWhole(one.owner) { census.whole.insert(one.owner) }
        }
        return Report(census.text) { census.write(to: &$0) }
    }

    static let ownerPurge = Verb(
        "owner purge", arguments: [.required("OWNER")], options: [.yes],
        summary: "With the services stopped, move all of an owner aside.",
        help: """
            The way out where the stores do not belong together. Each service's program moves what \
            it keeps of the owner into a file beside its store, and the owner can start anew. \
            Asks for the owner's name as confirmation, unless --yes is given.
            """
    ) { run throws(CommandFailure) in try OwnerPurge(run).report() }
}

extension CommandRun {
    /// Whether the authority says that an owner needs no other service: he has no passcode.
    fileprivate func isWhole(_ name: String) throws(CommandFailure) -> Bool {
        guard let owner = Owner(name) else { return false }
        do throws(CommandFailure) {
            return try caller().call(AskStatus(), of: owner).reply.kind == nil
        } catch {
            guard CredentialFault(rawValue: error.code) != nil else { throw error }
            return false
        }
    }

    fileprivate func owners<Tag: ServiceTag>(
        known tag: Tag.Type
    ) throws(CommandFailure) -> [String] {
        let isSilent = try parts.isSilent(home(), tag.service)
        guard !isSilent else { throw ServiceCaller.unreachable(tag.service) }
        return try caller().call(ListOwners<Tag>()).reply.owners
    }
}

/// Which services know which owners.
struct OwnerCensus {
    let known: [String: [ServiceName]]
    /// Owners who lack nothing, though only one service knows them.
    var whole: Set<String> = []

    /// Owners whom only one service knows, and who should be known to more.
    var lone: [(owner: String, service: ServiceName)] {
        known.filter { $0.value.count == 1 && !whole.contains($0.key) }
            .map { ($0.key, $0.value[0]) }
            .sorted { $0.owner < $1.owner }
    }

    var text: String {
        guard !known.isEmpty else { return "There are no owners." }
        let rows = owners.map { owner in
            [owner, known[owner, default: []].map(\.text).joined(separator: ", ")]
        }
        let warnings = lone.map {
            "Only \($0.service.text) knows \($0.owner). Put the other stores back, or move the "
                + "rest aside with `coffer owner purge \($0.owner)`."
        }
        return ([TextTable.lines([["OWNER", "KNOWN TO"]] + rows)] + warnings)
            .joined(separator: "\n")
    }

    func write(to writer: inout JSONWriter) {
        writer.objects("owners", owners) { writer, owner in
            let services = known[owner, default: []]
            writer.string("owner", owner)
            writer.identifiers("known_to", services)
            writer.bool("only_one", services.count == 1)
        }
    }

    private var owners: [String] { known.keys.sorted() }
}
