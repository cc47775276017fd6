/// What a peer is to Coffer.
///
/// Methods say which roles may call them.
public enum Role: Hashable, Sendable {
    case service(ServiceName)
    case app
    case `extension`
    case engine
    case `operator`

    /// A role without the name of the service.
    public enum Kind: String, TextIdentifier, CaseIterable {
        case service
        case app
        case `extension`
        case engine
        case `operator`

        public init?(_ text: String) { self.init(rawValue: text) }

        public var text: String { rawValue }
    }

    public var kind: Kind {
        switch self {
        case .service: .service
        case .app: .app
        case .extension: .extension
        case .engine: .engine
        case .operator: .operator
        }
    }
}

extension Role: TextIdentifier {
    /// Reads `app`, `extension`, `engine`, `operator` or `service:<name>`.
    public init?(_ text: String) {
        if let service = ServiceName.allCases.first(where: { Role.service($0).text == text }) {
            self = .service(service)
            return
        }
        switch Kind(text) {
        case .app: self = .app
        case .extension: self = .extension
        case .engine: self = .engine
        case .operator: self = .operator
        case .service, nil: return nil
        }
    }

    public var text: String {
        switch self {
        case .service(let name): "service:\(name.text)"
        default: kind.text
        }
    }
}
