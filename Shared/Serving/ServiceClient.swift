public import Loop
public import Secrets
public import Wire

/// The way to another service: frames out, frames back.
@ServiceLoop
public protocol FramePort: AnyObject {
    /// - Throws: ``BusFault/unreachable`` or another fault of the way there; whether the request
    ///   was carried out is then unknown.
    func exchange(
        _ frames: RequestFrames, id: UInt64, timeoutMilliseconds: UInt64
    ) async throws(BusFault) -> ReplyFrames
}

/// Calls another service by typed requests.
@ServiceLoop
public final class ServiceClient {
    private let port: any FramePort
    private var lastID: UInt64 = 0

    public init(port: any FramePort) { self.port = port }

    /// Sends a request and waits for its answer.
    ///
    /// - Throws: the other service's refusal, or one with outcome `unknown` when no answer came.
    public func call<R: Request>(
        _ request: R, options: CallOptions, attachments: [SharedSecret] = []
    ) async throws(Refusal) -> Answer<R> {
        lastID += 1
        let id = lastID
        let frames = RequestFrames(request, id: id, options: options, attachments: attachments)
        let reply: ReplyFrames
        do {
            reply = try await port.exchange(
                frames, id: id, timeoutMilliseconds: options.timeoutMilliseconds)
        } catch {
            throw error.refusal
        }
        return try reply.answer(to: R.self)
    }
}
