public import AuthorityMessages
public import Serving
public import Wire

extension AuthorityLink {
    /// Destroys all that a service has of an owner who is being reset or removed, and tells the
    /// authority so when nothing is left on the disk.
    ///
    /// The authority is asked first: whoever sends the request only names what it has begun. It may
    /// be repeated.
    ///
    /// - Parameters:
    ///   - tables: the service's tables, as ``Service/ownerTables`` has them.
    ///   - forget: ends what is under way for the owner and drops what is kept in memory.
    public func wipe<Tag: ServiceTag>(
        _ call: Call<WipeOwner<Tag>>, in group: CommitGroup, tables: [OwnerTable],
        forget: () async throws -> Void
    ) async throws -> Answer<WipeOwner<Tag>> {
        guard call.peer.mayDestroy else { throw BusFault.forbidden }
        let removal = call.request.removal
        try await tell(CheckRemoval(removal: removal), of: call.owner)
        try await forget()
        try await group.wipe(call.owner, tables: tables)
        try await tell(ReportWiped(removal: removal), of: call.owner)
        return Answer(Empty())
    }

    private func tell<R: Request>(_ request: R, of owner: Owner) async throws {
        do throws(Refusal) {
            _ = try await authority.call(request, options: options(owner))
        } catch {
            throw AuthorityAnswer.fault(of: error)
        }
    }
}
