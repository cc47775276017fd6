public import Secrets

/// A request as it lies on the bus: `header | token | body | attachment…`.
public struct RequestFrames: Sendable {
    public var header: [UInt8]
    /// Empty where the method takes none.
    public var token: [UInt8]
    public var body: [UInt8]
    /// Without their framing, which the bus puts on and takes off.
    public var attachments: [SharedSecret]

    public init(
        header: [UInt8], token: [UInt8] = [], body: [UInt8], attachments: [SharedSecret] = []
    ) {
        self.header = header
        self.token = token
        self.body = body
        self.attachments = attachments
    }
}

/// A reply as it lies on the bus: `header | body | attachment…`.
public struct ReplyFrames: Sendable {
    public var header: [UInt8]
    public var body: [UInt8]
    /// Without their framing, which the bus puts on and takes off.
    public var attachments: [SharedSecret]

    public init(header: [UInt8], body: [UInt8], attachments: [SharedSecret] = []) {
        self.header = header
        self.body = body
        self.attachments = attachments
    }
}
