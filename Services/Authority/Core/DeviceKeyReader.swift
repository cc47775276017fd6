internal import AuthorityMessages
public import DeviceKeyFrames
public import Loop

/// What speaks with hardware tokens for the authority.
@ServiceLoop
public protocol DeviceKeyReader: AnyObject {
    /// Does one thing with one token; the caller is suspended, not blocked.
    ///
    /// - Parameter milliseconds: after that the answer is `device_key.timed_out`, whatever the
    ///   token is at.
    func ask(_ request: DeviceKeyRequest, milliseconds: UInt64) async -> DeviceKeyAnswer
}

/// Has no module and so no token.
@ServiceLoop
public final class NoDeviceKeys: DeviceKeyReader {
    public nonisolated init() {}

    public func ask(_ request: DeviceKeyRequest, milliseconds: UInt64) async -> DeviceKeyAnswer {
        .failed(.noModule)
    }
}
