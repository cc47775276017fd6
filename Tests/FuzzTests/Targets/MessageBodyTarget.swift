import Contracts
import Wire

extension FuzzTarget {
    /// The first byte names a method, the second request or reply; the others are the body.
    static let messageBody = FuzzTarget(
        name: "message-body",
        seeds: {
            (0..<methods.count).flatMap { number in
                [false, true].flatMap { isReply in
                    methods[number].bodies(isReply: isReply).prefix(8).map { body in
                        [UInt8(number), isReply ? 1 : 0] + body
                    }
                }
            }
        },
        run: { input in
            guard input.count >= 2 else { return }
            let body = Array(input.dropFirst(2))
            methods[Int(input[0]) % methods.count].readAnyBody(body, isReply: input[1] % 2 == 1)
        })

    private static let methods = Contracts.own + Contracts.common
}

extension Request {
    fileprivate static func readAnyBody(_ body: [UInt8], isReply: Bool) {
        if isReply {
            readAgain(body, as: Reply.self)
        } else {
            readAgain(body, as: Self.self)
            plantedTrap(body.count > 40 && body.last == 0x20 && (try? Self(decoding: body)) != nil)
        }
    }

    fileprivate static func bodies(isReply: Bool) -> [[UInt8]] {
        isReply ? BodySeeds.all(of: Reply.self) : BodySeeds.all(of: Self.self)
    }
}

/// Bodies that a message takes, found by asking it what it misses.
enum BodySeeds {
    /// Values that fields of the protocol have.
    private static let values: [String] = {
        let texts =
            [
                "a", "local", "app_unlock", "settings", "resource", "passcode", "standard", "open",
                "digits4", "alphanumeric", "proof", "session", "bip39", "dash", "mainnet",
                "secp256k1", "m/44'/0'", "reset", "remove", "ok", "done", "in_flight",
                "wallet-vault",
                "charged", "cooling_down", "right", "wrong", "verified", "none", "unknown", "known",
                "absent", "plan", "idle", "running", "/a", "migrated", "listed", "created",
                "imported", "exists", "installed", "unusable", "stale", "set", "disabled", "opened",
                "removed", "waiting", "clear",
            ] + [
                String(repeating: "a", count: 32), String(repeating: "ab", count: 32),
                String(repeating: "A", count: 43) + "=", String(repeating: "a", count: 40),
                "00000000-0000-4000-8000-000000000000", String(repeating: "02", count: 33),
            ]
        return ["{}", "[]", "0", "1", "true", "\"\""] + texts.map { "\"\($0)\"" }
    }()
    /// More fields than any message has.
    private static let stepsMax = 2_000

    /// One body for each value that its first field may have.
    static func all<M: Message>(of type: M.Type) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for first in values.indices {
            guard let body = search(type, from: first), !found.contains(body) else { continue }
            found.append(body)
        }
        return found
    }

    private static func search<M: Message>(_ type: M.Type, from first: Int) -> [UInt8]? {
        var fields: [(key: String, value: Int)] = []
        for _ in 0..<stepsMax {
            let members = fields.map { "\"\($0.key)\":\(values[$0.value])" }
            let text = Array("{\(members.joined(separator: ","))}".utf8)
            do throws(JSONError) {
                _ = try M(decoding: text)
                return text
            } catch {
                guard advance(&fields, after: error, first) else { return nil }
            }
        }
        return nil
    }

    /// Adds the field that was missed, or tries the next value of the one that was refused.
    private static func advance(
        _ fields: inout [(key: String, value: Int)], after error: JSONError, _ first: Int
    ) -> Bool {
        switch error {
        case .missing(let key):
            guard !fields.contains(where: { $0.key == key }) else { return false }
            fields.append((key, fields.isEmpty ? first : 0))
            return true
        case .wrongType(let key), .invalid(let key):
            guard let index = fields.lastIndex(where: { $0.key == key }) else { return false }
            // The first one's values are tried by the caller.
            guard index > 0 || first == 0 else { return false }
            fields[index].value += 1
            return fields[index].value < values.count
        default: return false
        }
    }
}
