internal import Glibc
internal import Home
internal import Secrets
internal import Wire

/// One run of the command: what was typed, and what it works with.
final class CommandRun {
    let invocation: Invocation
    let parts: CommandParts
    let verbs: [Verb]
    /// What a person should know beside the result.
    private(set) var notes: [String] = []
    /// Sessions that this run opened and nobody keeps.
    private(set) var ownSessions: [OwnSession] = []
    /// What was typed, so that nobody is asked twice in one run.
    private var typedPasscode: SharedSecret?
    private var usedDescriptors: Set<Int32> = []
    private var madeCaller: ServiceCaller?

    init(_ invocation: Invocation, parts: CommandParts, verbs: [Verb]) {
        self.invocation = invocation
        self.parts = parts
        self.verbs = verbs
    }

    func note(_ sentence: String) { notes.append(sentence) }

    /// Has a session ended when the command ends.
    func own(_ session: OwnSession) { ownSessions.append(session) }

    /// Lets the sessions live on: they are kept somewhere, or are over.
    func disownSessions() { ownSessions = [] }

    // MARK: Options

    var wantsJSON: Bool { invocation.has(.json) }

    /// The installation's folder, as an absolute path.
    func home() throws(CommandFailure) -> Home {
        guard let path = invocation[.home] else {
            guard let home = Home.fromEnvironment() else {
                throw .usage("Set COFFER_HOME or give --home.")
            }
            return Home(path: try Self.absolute(home.path, of: "--home"))
        }
        return Home(path: try Self.absolute(path, of: "--home"))
    }

    /// The home of a verb that works on one of its folders.
    ///
    /// - Throws: `coffer.no_installation` where that folder is not there.
    func home(with folder: (Home) -> String) throws(CommandFailure) -> Home {
        let home = try home()
        guard access(folder(home), F_OK) == 0 || errno != ENOENT else {
            throw CommandFailure(
                .noInstallation,
                "There is no installation in \(home.path). `coffer init` makes one; "
                    + "`deploy/launch up` starts it, too.")
        }
        return home
    }

    func owner() throws(CommandFailure) -> Owner {
        guard let owner = Owner(invocation[.owner] ?? "local") else {
            throw .usage("--owner wants 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        return owner
    }

    func namespace() throws(CommandFailure) -> Namespace {
        try namespace(.namespace, else: "main")
    }

    /// - Parameter name: of the namespace where the option is left out.
    func namespace(
        _ option: CommandOption, else name: String
    ) throws(CommandFailure) -> Namespace {
        guard let namespace = Namespace(invocation[option] ?? name) else {
            throw .usage("\(option.name) wants 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        return namespace
    }

    func timeoutMilliseconds() throws(CommandFailure) -> UInt64 {
        guard let text = invocation[.timeout] else { return 10_000 }
        guard let seconds = Double(text), seconds >= 0.001, seconds <= 3_600 else {
            throw .usage("--timeout wants seconds, from 0.001 to 3600.")
        }
        return UInt64(seconds * 1_000)
    }

    /// The number of a descriptor that an option names, which no other option may name too.
    func descriptor(_ option: CommandOption) throws(CommandFailure) -> Int32? {
        try descriptor(option, at: 0)
    }

    /// The number of a descriptor that an option names which may be given more than once.
    func descriptor(_ option: CommandOption, at index: Int) throws(CommandFailure) -> Int32? {
        let given = invocation.all(option)
        guard given.indices.contains(index) else { return nil }
        let number = try NamedDescriptors.number(given[index], named: option)
        guard usedDescriptors.insert(number).inserted else {
            throw .usage("\(option.name) \(number): another option reads that descriptor.")
        }
        // No helper program gets to see it.
        if number > STDERR_FILENO { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        return number
    }

    // MARK: Services and secrets

    func caller() throws(CommandFailure) -> ServiceCaller {
        if let madeCaller { return madeCaller }
        let home = try home()
        let link = parts.link
        let caller = ServiceCaller(
            owner: try owner(), timeoutMilliseconds: try timeoutMilliseconds(), parts: parts,
            certificatePath: home.publicKeyPath(of: ClientInstallation.name)
        ) { (service) throws(CommandFailure) in try link(home, service) }
        madeCaller = caller
        return caller
    }

    func tokens() throws(CommandFailure) -> TokenStore {
        TokenStore(keyring: parts.keyring, home: try home(), owner: try owner())
    }

    /// A secret from the descriptor that its option names, else from the person.
    func secret(_ question: SecretQuestion) throws(CommandFailure) -> SharedSecret {
        if let descriptor = try descriptor(question.option) {
            return SharedSecret(
                try DescriptorInput.secret(descriptor, named: question.option))
        }
        return SharedSecret(try parts.person.secret(question))
    }

    /// The owner's passcode, asked for once a run.
    ///
    /// - Parameter isSparedByUnlock: whether a kept session would have done.
    func passcode(
        to purpose: String, isSparedByUnlock: Bool = false
    ) throws(CommandFailure) -> SharedSecret {
        if let typedPasscode { return typedPasscode }
        let passcode = try secret(
            SecretQuestion(
                description: "The passcode of owner \(try owner().text) is needed to \(purpose).",
                prompt: "Passcode", isNew: false, option: .passcodeDescriptor,
                isSparedByUnlock: isSparedByUnlock))
        typedPasscode = passcode
        return passcode
    }

    /// A path from the root, for programs that run in another folder.
    ///
    /// - Parameter name: of the option or word that gives the path.
    static func absolute(_ path: String, of name: String) throws(CommandFailure) -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let folder = getcwd(nil, 0) else {
            throw .usage("\(name) wants an absolute path here.")
        }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }
}
