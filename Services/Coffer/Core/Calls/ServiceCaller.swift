internal import Secrets
internal import Wire

/// Calls services for one owner, each call with a deadline, and turns what goes wrong into failures
/// that name the service and what to do.
final class ServiceCaller {
    let owner: Owner
    let timeoutMilliseconds: UInt64
    let parts: CommandParts

    private let link: (ServiceName) throws(CommandFailure) -> any FrameExchange
    private let certificatePath: String
    private var greeted: Set<ServiceName> = []
    private var lastID: UInt64 = 0
    /// Keys whose outcome is known, to be named in the next request.
    private var settled: [ServiceName: [IdempotencyKey]] = [:]

    /// How long a service may take to say how it is; one that is stopped or dead is told within two
    /// seconds.
    static let greetingMilliseconds: UInt64 = 1_800

    /// - Parameters:
    ///   - certificatePath: of the command's own public key, for the sentence that says how a
    ///     service comes to know it.
    ///   - link: the way to a service.
    init(
        owner: Owner, timeoutMilliseconds: UInt64, parts: CommandParts, certificatePath: String,
        link: @escaping (ServiceName) throws(CommandFailure) -> any FrameExchange
    ) {
        self.owner = owner
        self.timeoutMilliseconds = timeoutMilliseconds
        self.parts = parts
        self.certificatePath = certificatePath
        self.link = link
    }

    /// Sends a request to the service that its method names.
    ///
    /// - Parameter other: another owner than the one of this command.
    func call<R: Request>(
        _ request: R, of other: Owner? = nil, token: [UInt8] = [],
        attachments: [SharedSecret] = [], idempotency: IdempotencyKey? = nil,
        within milliseconds: UInt64? = nil
    ) throws(CommandFailure) -> Answer<R> {
        let service = Self.service(of: R.self)
        try greet(service)
        let timeout = min(milliseconds ?? timeoutMilliseconds, timeoutMilliseconds)
        let naming = settled[service, default: []].prefix(RequestHeader.settledLimit)
        let answer = try exchange(
            request, with: service, timeout: timeout,
            options: CallOptions(
                owner: other ?? owner, token: token, timeoutMilliseconds: timeout,
                idempotency: idempotency, settled: Array(naming)),
            attachments: attachments)
        settled[service] = nil
        return answer
    }

    /// Asks a service how it is.
    func health<Tag: ServiceTag>(
        _ tag: Tag.Type, within milliseconds: UInt64 = greetingMilliseconds
    ) throws(CommandFailure) -> HealthReply {
        let timeout = min(milliseconds, timeoutMilliseconds)
        let options = CallOptions(owner: owner, timeoutMilliseconds: timeout)
        let answer = try exchange(
            Health<Tag>(), with: Tag.service, timeout: timeout, options: options,
            attachments: [])
        greeted.insert(Tag.service)
        return answer.reply
    }

    /// Remembers that the outcome of a change is known.
    func settle(_ key: IdempotencyKey, of service: ServiceName) {
        settled[service, default: []].append(key)
    }

    /// The service whose prefix the method has.
    static func service<R: Request>(of type: R.Type) -> ServiceName {
        for service in ServiceName.allCases where R.method.hasPrefix(service.prefix + ".") {
            return service
        }
        preconditionFailure("a method's name begins with its service's prefix")
    }

    /// Finds out first, and soon, whether the service is there at all.
    func greet(_ service: ServiceName) throws(CommandFailure) {
        guard !greeted.contains(service),
            let tag = KnownServices.tags.first(where: { $0.service == service })
        else { return }
        _ = try health(tag)
    }

    private func exchange<R: Request>(
        _ request: R, with service: ServiceName, timeout: UInt64, options: CallOptions,
        attachments: [SharedSecret]
    ) throws(CommandFailure) -> Answer<R> {
        let link = try link(service)
        lastID += 1
        let frames = RequestFrames(
            request, id: lastID, options: options, attachments: attachments)
        let reply: ReplyFrames
        do throws(BusFault) {
            reply = try link.exchange(frames, timeoutMilliseconds: timeout)
        } catch {
            throw failure(error, of: service, kind: R.kind)
        }
        do throws(Refusal) {
            return try reply.answer(to: R.self)
        } catch {
            var refusal = error
            if refusal.code == BusFault.forbidden.rawValue {
                refusal.message =
                    "\(service.text) does not let this command do that for owner \(owner.text). "
                    + "`coffer peer list` shows what its entry allows."
            }
            throw CommandFailure(refusal, kind: R.kind)
        }
    }

    /// Says that nobody listens where the service would.
    static func unreachable(_ service: ServiceName) -> CommandFailure {
        var refusal = BusFault.unreachable.refusal
        refusal.message = "\(service.text) cannot be reached. Start it with `deploy/launch up`."
        return CommandFailure(refusal, kind: .read)
    }

    private func failure(
        _ fault: BusFault, of service: ServiceName, kind: MethodKind
    ) -> CommandFailure {
        var refusal = fault.refusal
        switch fault {
        case .unreachable: return Self.unreachable(service)
        case .expired where kind == .read || kind == .fresh:
            refusal.message =
                "\(service.text) did not answer in time. `deploy/launch status` shows how it is, "
                + "`deploy/launch up` starts it."
        case .unadmitted:
            refusal.message =
                "\(service.text) does not know this command's key. Add it with `coffer peer add "
                + "\(ClientInstallation.name) --certificate \(certificatePath) --role app "
                + "--owners \(owner.text) --destroy`."
        default: break
        }
        return CommandFailure(refusal, kind: kind)
    }
}
