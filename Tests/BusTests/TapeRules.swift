import Loop
import Secrets
import TestKit
import Testing
import Wire

@testable import Bus

/// Who records what goes over a link has nothing of what was said on it.
@Suite(.busLoop, .timeLimit(.minutes(1)))
struct TapeRules {
    private static let question = "a question that nobody else hears"
    private static let passcode = "the passcode 482193 of the question"
    private static let answer = "an answer that nobody else hears"
    private static let phrase = "legal winner thank year wave sausage"
    /// What a request and its reply say, in the header, in bodies and in attachments.
    private static let said = [question, passcode, answer, phrase, "echo.echo", "local"]

    private let service: EchoService
    private let tape: Tape
    private let path: String

    init() async throws {
        service = try await EchoService()
        path = service.scratch.path + "/tape.sock"
        tape = try Tape(at: path, to: #require(service.endpoint.path))
    }

    @Test @ServiceLoop func nothingOfWhatIsSaidIsOnATape() async throws {
        let link = ServiceLink(
            loop: service.loop, context: try Context(),
            endpoint: try Endpoint(checking: "ipc://\(path)"),
            serverKey: service.identity.publicKey, identity: try service.admit("a"))
        service.answer = { request, service in
            let phrase = SharedSecret(SecretBytes(copying: Array(Self.phrase.utf8)))
            service.reply(id: 1, .ok, Array(Self.answer.utf8), [phrase], to: request.route)
        }
        let reply = try await link.exchange(
            request(1, body: Array(Self.question.utf8), attachments: [Array(Self.passcode.utf8)]),
            id: 1, timeoutMilliseconds: 5_000)
        #expect(reply.body == Array(Self.answer.utf8))
        #expect(reply.attachments.map(bytes) == [Array(Self.phrase.utf8)])
        link.close()
        // All went over it: it has the greetings, which are in clear, and as much as was said.
        #expect(tape.bytes.holds("CURVE"))
        #expect(tape.bytes.count > Self.said.joined().utf8.count)
        for words in Self.said { #expect(!tape.bytes.holds(words), "\(words)") }
    }

    /// The same tape on a link without CURVE.
    @Test @ServiceLoop func theTapeHasWhatIsSaidInClear() async throws {
        await service.closed()
        let (client, server) = try (
            Socket(.pair, in: Context()), Socket(.pair, in: service.context)
        )
        try server.bind(service.endpoint.text)
        try client.connect("ipc://\(path)")
        let header = request(1).header
        client.sendMessage([header, [], Array(Self.question.utf8), Array(Self.passcode.utf8)])
        try await receive(on: server)
        server.sendMessage([Array(Self.answer.utf8), Array(Self.phrase.utf8)])
        try await receive(on: client)
        for words in Self.said { #expect(tape.bytes.holds(words), "\(words)") }
    }

    @ServiceLoop private func receive(on socket: Socket) async throws {
        #expect(
            await service.wait { socket.receiveMessage(partLimit: 4, byteLimit: 4_096) != nil })
    }
}
