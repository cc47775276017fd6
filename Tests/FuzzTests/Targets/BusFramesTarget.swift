import Secrets
import Wire

@testable import Bus

extension FuzzTarget {
    /// The first byte says what the others are: a header, an error, an attachment, a message frame
    /// by frame, a question of the handshake.
    static let busFrames = FuzzTarget(
        name: "bus-frames",
        seeds: {
            let key = String(repeating: "a", count: 32)
            let request = """
                {"v":1,"id":7,"method":"vault.list","owner":"local","timeout_ms":5000,\
                "settled":["\(key)"],"idempotency":"\(key)"}
                """
            let frame = AttachmentFrame.encode(SecretBytes(copying: [1, 2, 3]))
            let question: [[UInt8]] = [
                Array("1.0".utf8), [1], Array("coffer.requests".utf8), Array("127.0.0.1".utf8), [],
                Array("CURVE".utf8), [UInt8](repeating: 9, count: 32),
            ]
            return [
                [0] + Array(request.utf8),
                [1] + Array(#"{"v":1,"id":7,"status":"ok","repeated":true}"#.utf8),
                [2]
                    + Array(
                        #"{"code":"bus.busy","message":"m","outcome":"unknown","retry_after_ms":9}"#
                            .utf8),
                [3] + frame.withBytes(Array.init),
                [4] + framed([[1], [2, 2], [], frame.withBytes(Array.init)]),
                [5] + framed(question), [6] + Array("tcp://127.0.0.1:5555".utf8),
            ]
        },
        run: { input in
            guard let mode = input.first else { return }
            let rest = Array(input.dropFirst())
            switch mode {
            case 0: readRequestHeader(rest)
            case 1: readReplyHeader(rest)
            case 2: readAgain(rest, as: Refusal.self)
            case 3: readAttachment(rest)
            case 4: assemble(frames(in: rest))
            case 5: answer(frames(in: rest))
            default: readEndpoint(rest)
            }
        })

    private static func readRequestHeader(_ bytes: [UInt8]) {
        guard let header = try? RequestHeader(decoding: bytes) else {
            _ = RequestHeader.id(ofUnreadable: bytes)
            return
        }
        promise(RequestHeader.id(ofUnreadable: bytes) == header.id)
        promise((try? RequestHeader(decoding: header.encode())) == header)
        plantedTrap(header.settled.isEmpty && header.idempotency != nil)
    }

    private static func readReplyHeader(_ bytes: [UInt8]) {
        guard let header = try? ReplyHeader(decoding: bytes) else { return }
        promise((try? ReplyHeader(decoding: header.encode())) == header)
    }

    /// A frame has one form.
    private static func readAttachment(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { frame in
            guard let attachment = try? AttachmentFrame.decode(frame, limit: 1_000) else { return }
            promise(attachment.bytes.count <= 1_000)
            let again = AttachmentFrame.encode(attachment.bytes)
            promise(again.withBytes { $0.elementsEqual(bytes) }, "an attachment has two forms")
        }
    }

    /// What was put together keeps the limits, or nothing of it is left but a fault.
    private static func assemble(_ frames: [[UInt8]]) {
        let limits = BusLimits(frameBytes: 96, attachmentCount: 2)
        var assembly = FrameAssembly(plainCount: 3, limits: limits)
        for var frame in frames {
            frame.withUnsafeMutableBytes { assembly.take($0) }
        }
        assembly.finish()
        promise(assembly.plain.count <= 3 && assembly.attachments.count <= 2)
        promise(assembly.plain.allSatisfy { $0.count <= limits.frameBytes })
        if assembly.fault == nil {
            promise(assembly.plain.count == 3 && frames.count == 3 + assembly.attachments.count)
        } else {
            promise(assembly.attachments.isEmpty, "a refused message kept attachments")
        }
    }

    private static func answer(_ frames: [[UInt8]]) {
        guard let question = ZAPRequest(frames) else { return }
        promise(question.id == frames[1])
        for reply in [ZAPReply.admitted(question.key), .unknown, .malformed] {
            promise(reply.frames(id: question.id).count == 6)
        }
    }

    private static func readEndpoint(_ bytes: [UInt8]) {
        guard let endpoint = Endpoint(String(decoding: bytes, as: UTF8.self)) else { return }
        promise(Endpoint(endpoint.text) == endpoint)
    }

    /// A length of one byte before each frame.
    private static func framed(_ frames: [[UInt8]]) -> [UInt8] {
        frames.flatMap { [UInt8($0.count)] + $0 }
    }

    private static func frames(in bytes: [UInt8]) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var rest = bytes[...]
        while let count = rest.popFirst() {
            frames.append(Array(rest.prefix(Int(count))))
            rest = rest.dropFirst(Int(count))
        }
        return frames
    }
}

/// What was read can be written, and read again as the same.
func readAgain<M: Message>(_ bytes: [UInt8], as type: M.Type) {
    guard let message = try? M(decoding: bytes) else { return }
    let written = message.encoded()
    promise((try? M(decoding: written))?.encoded() == written, "a message changes as it is written")
}
