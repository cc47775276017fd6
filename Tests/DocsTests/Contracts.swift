import Contracts
import VaultMessages
import Wire

/// What the list of methods says of one method.
struct MethodLine: Hashable, CustomStringConvertible {
    let name: String
    let kind: String
    let callers: String
    let token: String
    let attachments: String
    let replyAttachments: String

    var description: String {
        "\(name): \(kind); \(callers); token \(token); \(attachments); \(replyAttachments)"
    }
}

/// The list of methods, from the contracts.
extension Contracts {
    static let lines =
        own.map { line($0, name: $0.method) }
        + common.map { line($0, name: "SERVICE" + $0.method.dropFirst("vault".count)) }

    private static func line(_ type: any Request.Type, name: String) -> MethodLine {
        MethodLine(
            name: name, kind: "\(type.kind)", callers: text(type.callers),
            token: type.tokenUse == .none ? "no" : "yes", attachments: text(type.attachmentCount),
            replyAttachments: text(type.replyAttachmentCount))
    }

    private static func text(_ callers: Callers) -> String {
        if callers.services.count == ServiceName.allCases.count,
            callers.roles.count == Role.Kind.allCases.count
        {
            return "every peer"
        }
        if callers.services.count == ServiceName.allCases.count,
            callers.roles == [.app, .engine]
        {
            return "app, engine, every service"
        }
        let roles = Role.Kind.allCases.filter(callers.roles.contains).map(\.text)
        let services = ServiceName.allCases.filter(callers.services.contains).map(\.text)
        return (roles + services).joined(separator: ", ")
    }

    private static func text(_ count: ClosedRange<Int>) -> String {
        count.lowerBound == count.upperBound
            ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
    }

    /// The names of methods that sources declare, so that none is left out of the lists above.
    static func declared(in sources: [String]) -> Set<String> {
        let declaration =
            #/static var method: String \{ (Tag\.service\.prefix \+ )?"([a-z_.]+)" \}/#
        return sources.reduce(into: []) { names, source in
            for match in source.matches(of: declaration) {
                names.insert((match.1 == nil ? "" : "SERVICE") + match.2)
            }
        }
    }

    /// The names of members that messages read, from the lists with which they refuse others.
    static func members(in sources: [String]) -> Set<String> {
        let list = #/refuseUnknownKeys\(\[([^\]]*)\]\)/#
        return sources.reduce(into: []) { names, source in
            for match in source.matches(of: list) {
                for name in match.1.split(separator: ",") {
                    let name = trimmed(name).filter { $0 != "\"" }
                    if !name.isEmpty { names.insert(name) }
                }
            }
        }
    }

    /// The sources of messages that a client reads or writes.
    static var sources: [String] {
        Repository.files(in: "Services", endings: ["swift"]).filter { $0.contains("/Messages/") }
            + ["ServiceTag", "RequestHeader", "ReplyHeader", "Refusal"].map {
                "Shared/Wire/\($0).swift"
            }
    }
}
