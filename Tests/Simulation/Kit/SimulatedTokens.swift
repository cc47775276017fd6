import AuthorityCore
import AuthorityMessages
import Crypto
import DeviceKeyFrames
import Loop
import Secrets
import TestKit

/// The hardware tokens of a machine: what is on one survives every end of the authority.
///
/// They have choices of their own, so that a run in which nobody uses one is the same without them.
@ServiceLoop
final class SimulatedTokens {
    /// A copy that lies on a token, or a key that opens one.
    struct Object {
        let value: [UInt8]
        let binding: [UInt8]
        /// Whether nobody has to delete it any more: its owner was removed, or gave the token up.
        var isGivenUp = false
    }

    struct Token {
        var pin = "4321"
        var objects: [String: Object] = [:]
        /// Whether everything on it was deleted by somebody else.
        var wasCleared = false
    }

    /// What goes wrong with one thing that a token is asked.
    enum Mishap {
        case none
        case absent
        case full
        case failed
        case slow
        /// It is done, and nobody hears of it.
        case silent
    }

    static let uris = ["pkcs11:token=first", "pkcs11:token=second"]

    private(set) var tokens: [String: Token]
    private(set) var injected = Injected()
    let choices: SeededRandom
    /// Of a hundred things that are asked, those with which something goes wrong.
    private var mishapsPercent: Int

    init(seed: UInt64) {
        choices = SeededRandom(seed: seed)
        tokens = Dictionary(uniqueKeysWithValues: Self.uris.map { ($0, Token()) })
        mishapsPercent = choices.pick([0, 10, 25, 50]) ?? 0
    }

    /// From now on every token is there and does what it is asked.
    func calm() { mishapsPercent = 0 }

    /// The PIN as its person knows it.
    func pin(of uri: String) -> String { tokens[uri]?.pin ?? "" }

    /// Nobody has to delete what is on the tokens now.
    func giveUp() {
        for uri in Self.uris {
            for name in tokens[uri]?.objects.keys.sorted() ?? [] {
                tokens[uri]?.objects[name]?.isGivenUp = true
            }
        }
    }

    /// How many objects a token has that somebody has to delete.
    func count(on uri: String) -> Int {
        tokens[uri]?.objects.values.count { !$0.isGivenUp } ?? 0
    }

    /// What goes wrong with the next thing that is asked.
    func mishap() -> Mishap {
        guard choices.chance(percent: mishapsPercent) else { return .none }
        switch choices.number(in: 1...100) {
        case 1...20: return .absent
        case 21...35: return .full
        case 36...50: return .failed
        case 51...65: return .slow
        case 66...88: return .silent
        case 89...93:
            clear(choices.pick(Self.uris) ?? "")
            return .none
        default:
            let uri = choices.pick(Self.uris) ?? ""
            tokens[uri]?.pin = "\(choices.number(in: 1_000...9_999))"
            injected[.tokenPINChanged] += 1
            return .none
        }
    }

    private func clear(_ uri: String) {
        tokens[uri]?.objects = [:]
        tokens[uri]?.wasCleared = true
        injected[.tokenCleared] += 1
    }

    func note(_ trouble: Trouble) { injected[trouble] += 1 }

    /// Does what is asked.
    func carryOut(_ request: DeviceKeyRequest, _ mishap: Mishap) -> DeviceKeyAnswer {
        if mishap == .absent {
            injected[.tokenAbsent] += 1
            return .failed(.noToken)
        }
        if mishap == .failed {
            injected[.tokenFailed] += 1
            return .failed(.tokenFailed)
        }
        guard let token = tokens[request.token] else { return .failed(.noToken) }
        guard let pin = request.pin else { return .failed(.pinNeeded) }
        guard pin.bytes.withBytes({ Array($0) }) == Array(token.pin.utf8) else {
            return .failed(.wrongPIN)
        }
        switch request.act {
        case .store(let key, let name, let form, let binding):
            if mishap == .full {
                injected[.tokenFull] += 1
                return .failed(.tokenFailed)
            }
            return store(key, name, form, binding, on: request.token)
        case .release(let name, let form, let sealed, let binding):
            guard let object = token.objects[name] else { return .failed(.noObject) }
            guard object.binding == binding || form == .data else { return .failed(.mismatch) }
            let key = form == .data ? object.value : Self.mix(object.value, sealed)
            return .released(SharedSecret(SecretBytes(copying: key)))
        case .delete(let all):
            let own = all.filter { $0.token == request.token }.map(\.name)
            for name in own { tokens[request.token]?.objects[name] = nil }
            return .deleted(own)
        }
    }

    private func store(
        _ key: SharedSecret, _ name: String, _ form: DeviceKeyForm?, _ binding: [UInt8],
        on uri: String
    ) -> DeviceKeyAnswer {
        let bytes = key.bytes.withBytes { Array($0) }
        let form = form ?? .data
        let value = form == .data ? bytes : choices.bytes(bytes.count)
        tokens[uri]?.objects[name] = Object(value: value, binding: binding)
        return .stored(
            token: uri, form: form, sealed: form == .data ? [] : Self.mix(value, bytes))
    }

    private static func mix(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        zip(one, other).map { $0 ^ $1 }
    }
}

/// The program that speaks with tokens, for one life of the authority; it ends with it.
@ServiceLoop
final class SimulatedReader: DeviceKeyReader {
    private let tokens: SimulatedTokens
    private let timers: Timers
    private let sender: SimulatedNetwork.Sender

    init(_ tokens: SimulatedTokens, timers: Timers, sender: SimulatedNetwork.Sender) {
        self.tokens = tokens
        self.timers = timers
        self.sender = sender
    }

    func ask(_ request: DeviceKeyRequest, milliseconds: UInt64) async -> DeviceKeyAnswer {
        let mishap = tokens.mishap()
        let longest = mishap == .slow ? 40_000 : 30
        if mishap == .slow { tokens.note(.tokenSlow) }
        var left = milliseconds
        guard await isDone(within: &left, after: longest) else { return .failed(.timedOut) }
        let answer = tokens.carryOut(request, mishap)
        guard await isDone(within: &left, after: longest) else { return .failed(.timedOut) }
        if mishap == .silent {
            tokens.note(.tokenSilent)
            return .failed(.timedOut)
        }
        return answer
    }

    /// Whether the token came so far in time, and somebody still waits for it.
    private func isDone(within left: inout UInt64, after longest: Int) async -> Bool {
        let pause = UInt64(tokens.choices.number(in: 0...longest))
        let wait = min(pause, left)
        await timers.sleep(milliseconds: wait)
        left -= wait
        guard !sender.isDead else {
            tokens.note(.killInTokenUse)
            return false
        }
        return left > 0
    }
}
