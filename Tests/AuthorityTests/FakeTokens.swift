import AuthorityMessages
import DeviceKeyFrames
import Loop
import Secrets

@testable import AuthorityCore

/// Hardware tokens in memory, which fail, hang and are pulled out as a test says.
@ServiceLoop
final class FakeTokens: DeviceKeyReader {
    enum Act: CaseIterable {
        case store
        case release
        case delete
    }

    /// What goes wrong with one thing that is asked.
    enum Mishap: Equatable {
        case fails(DeviceKeyFault)
        /// It is done, and nobody hears of it.
        case losesAnswer
        /// This one goes well.
        case none
        /// Another key comes back.
        case liesAboutKey
    }

    struct Token {
        var pin = "4321"
        var objects: [String: [UInt8]] = [:]
    }

    static let first = "pkcs11:token=first"
    static let second = "pkcs11:token=second"

    var tokens = [first: Token(), second: Token()]
    var form = DeviceKeyForm.data
    var mishaps: [(act: Act, mishap: Mishap)] = []
    /// An act whose answers wait.
    var heldAct: Act?
    private(set) var asked: [Act] = []
    private let timers: Timers
    private var epoch = 0
    private var held: [CheckedContinuation<Void, Never>] = []
    private var dropped: [CheckedContinuation<Void, Never>] = []

    init(timers: Timers) { self.timers = timers }

    /// Whoever asked before is gone, and reads no answer.
    func cut() { epoch += 1 }

    var heldCount: Int { held.count }

    func letGo() {
        heldAct = nil
        let waiting = held
        held = []
        for continuation in waiting { continuation.resume() }
    }

    func ask(_ request: DeviceKeyRequest, milliseconds: UInt64) async -> DeviceKeyAnswer {
        let began = epoch
        let act = request.kind
        asked.append(act)
        let answer = answer(request, act)
        await timers.sleep(milliseconds: 1)
        if heldAct == act { await withCheckedContinuation { held.append($0) } }
        if epoch != began { await withCheckedContinuation { dropped.append($0) } }
        return answer
    }

    private func answer(_ request: DeviceKeyRequest, _ act: Act) -> DeviceKeyAnswer {
        let index = mishaps.firstIndex { $0.act == act }
        let mishap = index.map { mishaps.remove(at: $0).mishap }
        if case .fails(let fault) = mishap { return .failed(fault) }
        let name = request.token
        guard let token = tokens[name] else { return .failed(.noToken) }
        guard let pin = request.pin else { return .failed(.pinNeeded) }
        guard pin.bytes.open == Array(token.pin.utf8) else { return .failed(.wrongPIN) }
        let answer = done(request, on: name)
        if mishap == .losesAnswer { return .failed(.timedOut) }
        if mishap == .liesAboutKey, case .released = answer {
            return .released(SharedSecret(SecretBytes(count: 32)))
        }
        return answer
    }

    private func done(_ request: DeviceKeyRequest, on name: String) -> DeviceKeyAnswer {
        switch request.act {
        case .store(let key, let object, let form, _):
            tokens[name]?.objects[object] = key.bytes.open
            let form = form ?? self.form
            return .stored(
                token: name, form: form,
                sealed: form == .data ? [] : Array("sealed \(object)".utf8))
        case .release(let object, _, _, _):
            guard let key = tokens[name]?.objects[object] else { return .failed(.noObject) }
            return .released(SharedSecret(SecretBytes(copying: key)))
        case .delete(let all):
            let own = all.filter { $0.token == name }.map(\.name)
            for object in own { tokens[name]?.objects[object] = nil }
            return .deleted(own)
        }
    }

    func objectCount(_ token: String) -> Int { tokens[token]?.objects.count ?? 0 }
}

extension DeviceKeyRequest {
    fileprivate var kind: FakeTokens.Act {
        switch act {
        case .store: .store
        case .release: .release
        case .delete: .delete
        }
    }
}
