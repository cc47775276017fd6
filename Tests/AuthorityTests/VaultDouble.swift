import Loop
import Serving
import TestKit
import VaultMessages
import Wire

/// A vault that says whether it has anything of an owner, or does not.
@ServiceLoop
final class VaultDouble: FramePort {
    /// What comes of being asked.
    enum Answer: CaseIterable {
        case empty, holds
        /// It cannot be reached.
        case unreachable
        /// The answer is lost, or comes too late.
        case silent
        /// It answers with an error.
        case failing
        /// It answers with something else.
        case babbling
    }

    var answer = Answer.empty
    /// Whether answers wait, so that a test can do something in between.
    var isHeld = false
    private(set) var askedCount = 0
    private var held: [CheckedContinuation<Void, Never>] = []
    private var dropped: [CheckedContinuation<Void, Never>] = []

    func exchange(
        _ frames: RequestFrames, id: UInt64, timeoutMilliseconds: UInt64
    ) async throws(BusFault) -> ReplyFrames {
        askedCount += 1
        if isHeld { await withCheckedContinuation { held.append($0) } }
        switch answer {
        case .empty: return reply(true, id)
        case .holds: return reply(false, id)
        case .unreachable: throw .unreachable
        case .silent: throw .lost
        case .failing: return ReplyFrames(id: id, refusal: StorageFault.damaged.refusal)
        case .babbling: return ReplyFrames(id: id, body: Array("{}".utf8), attachments: [])
        }
    }

    private func reply(_ isEmpty: Bool, _ id: UInt64) -> ReplyFrames {
        ReplyFrames(
            id: id, body: AskWhetherEmpty.Reply(empty: isEmpty).encoded(), attachments: [])
    }

    func letGo() {
        isHeld = false
        let waiting = held
        held = []
        for continuation in waiting { continuation.resume() }
    }

    /// Whoever asked was killed: nothing comes back to him.
    func cut() {
        dropped += held
        held = []
    }
}
