import AuthorityMessages
import Bus
import MigrationMessages
import Secrets
import SharesMessages
import Tokens
import VaultMessages
import Wire

/// A peer with a connection of its own to each service.
final class Client {
    let identity: CurveKeyPair
    private let home: TestHome
    private var links: [ServiceName: BlockingLink] = [:]
    private var lastID: UInt64 = 0

    init(_ identity: CurveKeyPair, _ home: TestHome) {
        self.identity = identity
        self.home = home
    }

    // MARK: Calls

    /// Sends a request and waits for its answer; a change gets a new key unless one is given.
    func call<R: Request>(
        _ request: R, owner: Owner = local, token: [UInt8] = [], key: IdempotencyKey? = nil,
        secrets: [SharedSecret] = [], timeout: UInt64 = 30_000
    ) throws(Refusal) -> Answer<R> {
        let frames = frames(request, owner, token, key, secrets, timeout)
        return try exchange([frames], R.self, timeout)[0].get()
    }

    /// Sends requests over one connection without waiting in between.
    func callEach<R: Request>(
        _ requests: [(R, [SharedSecret])], timeout: UInt64 = 60_000
    ) throws(Refusal) -> [Result<Answer<R>, Refusal>] {
        let all = requests.map { frames($0, local, [], nil, $1, timeout) }
        return try exchange(all, R.self, timeout)
    }

    /// The same, each under a session of its own.
    func callEach<R: Request>(
        _ requests: [(R, token: [UInt8])], timeout: UInt64 = 60_000
    ) throws(Refusal) -> [Result<Answer<R>, Refusal>] {
        let all = requests.map { frames($0, local, $1, nil, [], timeout) }
        return try exchange(all, R.self, timeout)
    }

    /// Makes any number of changes, a few at a time, and names those as settled that are known.
    func changeEach<R: Request>(
        _ requests: [(R, [SharedSecret])], token: [UInt8], atATime count: Int
    ) throws(Refusal) {
        var known: [IdempotencyKey] = []
        for start in stride(from: 0, to: requests.count, by: count) {
            let keys = (0..<count).map { _ in newKey() }
            let some = zip(requests[start...], keys).map { request, key in
                frames(request.0, local, token, key, request.1, 60_000, settled: known)
            }
            for answer in try exchange(some, R.self, 60_000) { _ = try answer.get() }
            known = keys
        }
    }

    private func frames<R: Request>(
        _ request: R, _ owner: Owner, _ token: [UInt8], _ key: IdempotencyKey?,
        _ secrets: [SharedSecret], _ timeout: UInt64, settled: [IdempotencyKey] = []
    ) -> RequestFrames {
        lastID += 1
        let options = CallOptions(
            owner: owner, token: token, timeoutMilliseconds: timeout,
            idempotency: R.kind == .change ? key ?? newKey() : nil, settled: settled)
        return RequestFrames(request, id: lastID, options: options, attachments: secrets)
    }

    private func exchange<R: Request>(
        _ frames: [RequestFrames], _ type: R.Type, _ timeout: UInt64
    ) throws(Refusal) -> [Result<Answer<R>, Refusal>] {
        let service = ServiceName.allCases.first { R.method.hasPrefix($0.prefix + ".") }
        do throws(BusFault) {
            guard let service, let link = try? link(to: service) else { throw .unreachable }
            return try link.exchange(all: frames, timeoutMilliseconds: timeout).map { reply in
                do throws(BusFault) {
                    let frames = try reply.get()
                    return Result { () throws(Refusal) in try frames.answer(to: R.self) }
                } catch {
                    return .failure(error.refusal)
                }
            }
        } catch {
            throw error.refusal
        }
    }

    /// Raw frames, as a peer that does not keep to the protocol sends them.
    func send(_ frames: RequestFrames, to service: ServiceName) throws -> ReplyFrames {
        try link(to: service).exchange(frames, timeoutMilliseconds: 5_000)
    }

    func isHealthy(_ service: ServiceName) -> Bool {
        switch service {
        case .attemptLimiter: healthy(LimiterTag.self)
        case .credentialAuthority: healthy(Authority.self)
        case .walletVault: healthy(Vault.self)
        case .backupShares: healthy(Shares.self)
        case .migration: healthy(Migration.self)
        }
    }

    private func healthy<T: ServiceTag>(_ tag: T.Type) -> Bool {
        let reply = try? call(Health<T>(), timeout: 1_000).reply
        return reply?.healthy == true
    }

    private func link(to service: ServiceName) throws -> BlockingLink {
        if let link = links[service] { return link }
        let link = try home.link(to: service, as: identity)
        links[service] = link
        return link
    }

    private func newKey() -> IdempotencyKey {
        IdempotencyKey(KernelRandom().bytes(16)) ?? { preconditionFailure("16 bytes") }()
    }

    // MARK: What people do

    @discardableResult
    func setPasscode(
        _ code: String, kind: PasscodeKind = .digits4, token: [UInt8] = []
    ) throws -> SetPasscode.Reply {
        try call(SetPasscode(passcodeKind: kind), token: token, secrets: [secret(code)]).reply
    }

    /// The token of a session; nil where the passcode is not taken.
    func unlock(
        _ code: String, scope: Scope, audience: [ServiceName] = [.walletVault]
    ) throws -> [UInt8]? {
        let answer = try call(
            Verify(scope: scope, audience: audience), secrets: [secret(code)])
        guard case .verified = answer.reply, let token = answer.attachments.first else {
            return nil
        }
        return token.bytes.withBytes { Array($0) }
    }

    func resourceToken(_ code: String) throws -> [UInt8] {
        try known(unlock(code, scope: .resource(main)))
    }
}

private enum LimiterTag: ServiceTag {
    static var service: ServiceName { .attemptLimiter }
}

let main = Namespace("main") ?? { preconditionFailure("the name is in the form") }()

func secret(_ text: String) -> SharedSecret {
    SharedSecret(SecretBytes(copying: Array(text.utf8)))
}
