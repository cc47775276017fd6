internal import Loop
internal import Secrets
internal import Tokens
public import Wire

/// One method of a service: its contract and what answers it.
public struct Method<S: Service>: Sendable {
    /// What the host knows of a request before the method decodes it.
    struct Admission: Sendable {
        let header: RequestHeader
        let frames: RequestFrames
        let peer: PeerEntry
        let deadline: UInt64
        let ticket: ChangeTicket?
        var session: VerifiedSession?
        let conditions = ReplyConditions()
    }

    /// An answer as bytes.
    struct Encoded: Sendable {
        var body: [UInt8]
        var attachments: [SharedSecret]
    }

    public let name: String
    public let kind: MethodKind
    public let callers: Callers
    /// Whether a session must come with it.
    public let tokenUse: TokenUse
    /// Whether it removes key material, so that its answer waits until no remains are left.
    public let erases: Bool
    /// Decodes a request; what it gives carries the request out.
    let prepare: @Sendable (RequestFrames) throws(BusFault) -> Work

    /// A decoded request, ready to be carried out.
    typealias Work = @ServiceLoop @Sendable (S, Admission) async throws -> Encoded

    /// Binds a request type to the service's way of answering it.
    public static func on<R: Request>(
        _ type: R.Type,
        _ answer: @escaping @ServiceLoop @Sendable (S, Call<R>) async throws -> Answer<R>
    ) -> Method {
        Method(
            name: R.method, kind: R.kind, callers: R.callers, tokenUse: R.tokenUse,
            erases: R.erases,
            prepare: { frames throws(BusFault) in
                let request = try decode(R.self, frames)
                return { service, admission in
                    let call = Call(
                        request: request, attachments: admission.frames.attachments,
                        peer: admission.peer, owner: admission.header.owner,
                        session: admission.session, token: admission.frames.token,
                        deadline: admission.deadline, ticket: admission.ticket,
                        conditions: admission.conditions)
                    let answer = try await answer(service, call)
                    return Encoded(
                        body: answer.reply.encoded(), attachments: answer.attachments)
                }
            })
    }

    private static func decode<R: Request>(
        _ type: R.Type, _ frames: RequestFrames
    ) throws(BusFault) -> R {
        guard R.attachmentCount.contains(frames.attachments.count),
            R.tokenUse != .none || frames.token.isEmpty
        else { throw .malformed }
        do { return try R(decoding: frames.body) } catch { throw .malformed }
    }
}
