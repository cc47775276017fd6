import AuthorityMessages
import CofferCore
import LimiterMessages
import MigrationMessages
import SharesMessages
import VaultMessages
import Wire

/// Every type of error that can leave a service, or end a call at the client.
enum Catalogues {
    static let all: [any Fault.Type] = [
        BusFault.self, SessionFault.self, StorageFault.self, CredentialFault.self,
        DeviceKeyFault.self,
        LimiterFault.self, LeaseFault.self, VaultFault.self, SharesFault.self, MigrationFault.self,
        ClientFault.self,
    ]

    /// The error types that the sources declare, so that none is left out of the list above.
    static func declared(in sources: [String]) -> Set<String> {
        let declaration =
            #/(?:enum|struct|class)\s+(\w+)\s*:[^{]*\b(?:NamedFault|Fault)\b[^{]*\{/#
        return sources.reduce(into: []) { names, source in
            for match in source.matches(of: declaration) { names.insert(String(match.1)) }
        }
    }
}

/// One line of the list of errors: what is checked of it.
struct ErrorLine: Hashable, CustomStringConvertible {
    let code: String
    let outcome: String
    /// Empty where waiting does not help.
    let waitMilliseconds: String

    var description: String { "\(code), \(outcome), wait \(waitMilliseconds)" }

    static func all(of types: [any Fault.Type]) -> [ErrorLine] { types.flatMap(lines) }

    private static func lines(of type: any Fault.Type) -> [ErrorLine] {
        if let named = type as? any NamedFault.Type { return lines(ofNamed: named) }
        return type.catalogue.map {
            ErrorLine(code: $0.code, outcome: $0.outcome.text, waitMilliseconds: "")
        }
    }

    private static func lines<F: NamedFault>(ofNamed type: F.Type) -> [ErrorLine] {
        type.allCases.map { fault in
            let refusal = fault.refusal
            return ErrorLine(
                code: refusal.code, outcome: refusal.outcome.text,
                waitMilliseconds: refusal.retryAfterMilliseconds.map(String.init) ?? "")
        }
    }
}
