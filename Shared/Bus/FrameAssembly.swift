internal import Secrets
internal import Wire

/// Puts the frames of one message together as they come, and refuses what is too much.
///
/// After a fault the rest is still taken, and thrown away: a message is received whole.
struct FrameAssembly {
    private let plainCount: Int
    private let limits: BusLimits
    private(set) var plain: [[UInt8]] = []
    private(set) var attachments: [SharedSecret] = []
    private(set) var fault: BusFault?
    private var position = 0

    /// - Parameter plainCount: how many frames come before the attachments.
    init(plainCount: Int, limits: BusLimits) {
        self.plainCount = plainCount
        self.limits = limits
        plain.reserveCapacity(plainCount)
    }

    /// Takes the next frame; one in an attachment's place is wiped where it lies.
    mutating func take(_ frame: UnsafeMutableRawBufferPointer) {
        defer { position += 1 }
        if position < plainCount {
            guard fault == nil else { return }
            guard frame.count <= limits.frameBytes else { return refuse(.oversize) }
            plain.append(Array(frame))
        } else {
            defer { wipe(frame) }
            guard fault == nil else { return }
            guard attachments.count < limits.attachmentCount else { return refuse(.oversize) }
            takeAttachment(UnsafeRawBufferPointer(frame))
        }
    }

    /// Refuses a message that ended too early.
    mutating func finish() {
        if fault == nil && plain.count < plainCount { refuse(.malformed) }
    }

    mutating func refuse(_ fault: BusFault) {
        self.fault = fault
        attachments = []
    }

    private mutating func takeAttachment(_ frame: UnsafeRawBufferPointer) {
        do throws(AttachmentError) {
            attachments.append(try AttachmentFrame.decode(frame, limit: limits.frameBytes))
        } catch {
            refuse(error == .oversize ? .oversize : .malformed)
        }
    }
}
