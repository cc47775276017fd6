internal import CZMQ
internal import Glibc

/// Why a socket could not be made or bound.
public enum BusError: Error, Equatable, Sendable {
    /// The system or libzmq refuses another context, socket, thread or descriptor.
    case exhausted(code: Int32)
    /// libzmq does not know an option that Coffer's safety rests on.
    case unsupported(option: Int32, code: Int32)
    /// The endpoint cannot be bound or connected.
    case endpoint(String, code: Int32)
}

extension BusError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .exhausted(let code): "no more sockets can be made: \(Self.reason(code))"
        case .unsupported(let option, let code):
            "libzmq refuses option \(option): \(Self.reason(code))"
        case .endpoint(let text, let code): "\(text): \(Self.reason(code))"
        }
    }

    private static func reason(_ code: Int32) -> String { String(cString: zmq_strerror(code)) }
}
