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
    }

    /// An answer as bytes.
    struct Encoded: Sendable {
        var body: [UInt8]
        var attachments: [SharedSecret]
    }

    public let name: String
    public let kind: MethodKind
    public let callers: Callers
    let check: @Sendable (RequestFrames) throws -> Void
    let run: @ServiceLoop @Sendable (S, Admission) async throws -> Encoded

    /// Binds a request type to the service's way of answering it.
    public static func on<R: Request>(
        _ type: R.Type,
        _ answer: @escaping @ServiceLoop @Sendable (S, Call<R>) async throws -> Answer<R>
    ) -> Method {
        Method(
            name: R.method, kind: R.kind, callers: R.callers,
            check: { frames in _ = try decode(R.self, frames) },
            run: { service, admission in
                let call = Call(
                    request: try decode(R.self, admission.frames),
                    attachments: admission.frames.attachments, peer: admission.peer,
                    owner: admission.header.owner, session: admission.session,
                    token: admission.frames.token, deadline: admission.deadline,
                    ticket: admission.ticket)
                let answer = try await answer(service, call)
                return Encoded(body: answer.reply.encoded(), attachments: answer.attachments)
            })
    }

    private static func decode<R: Request>(_ type: R.Type, _ frames: RequestFrames) throws -> R {
        guard R.attachmentCount.contains(frames.attachments.count),
            R.usesToken || frames.token.isEmpty
        else { throw BusFault.malformed }
        do {
            return try R(decoding: frames.body)
        } catch {
            throw BusFault.malformed
        }
    }
}
