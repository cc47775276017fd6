import AuthorityMessages
import Loop
import Secrets
import Serving
import Tokens
import Wire

@testable import AuthorityCore

/// What tests do with tokens again and again.
extension Bench {
    /// Sets a passcode and enrols a token.
    func enrolled(_ token: String = FakeTokens.first) async throws {
        try await set()
        _ = try await enrol(token)
    }

    @discardableResult
    func enrol(_ token: String, form: DeviceKeyForm? = nil) async throws -> EnrolDeviceKey.Reply {
        let settings = try await settingsToken()
        return try await ask(
            EnrolDeviceKey(token: token, form: form), token: settings, secret: "4321"
        ).reply
    }

    /// The code of the error that an enrolment gets; nil where it succeeds.
    func enrolRefusal(
        _ token: String, pin: String? = "4321", session: [UInt8]? = nil,
        key: IdempotencyKey? = nil
    ) async throws -> String? {
        let own: [UInt8]
        if let session { own = session } else { own = try await settingsToken() }
        return try await refusal(
            EnrolDeviceKey(token: token), token: own, secret: pin, key: key)
    }

    static var opening: OpenDeviceSession {
        OpenDeviceSession(scope: .resource(.main), audience: [.walletVault])
    }

    /// A session with the token, and the session's own token.
    func deviceToken(_ request: OpenDeviceSession = opening) async throws -> [UInt8] {
        let answer = try await ask(request, secret: "4321")
        guard let token = answer.attachments.first else { throw NoSession() }
        return token.bytes.withBytes { Array($0) }
    }

    /// The code of the error that opening with the token gets; nil where it opens.
    func deviceRefusal(pin: String? = "4321") async throws -> String? {
        try await refusal(Self.opening, secret: pin)
    }

    func route() async throws -> AskDeviceKey.Reply { try await ask(AskDeviceKey()).reply }
}
