internal import CSystemd
internal import Glibc

/// A connection to the system's bus, on which nothing waits.
final class BusConnection {
    private let pointer: OpaquePointer

    init() throws(LoginManagerError) {
        var opened: OpaquePointer?
        let code = sd_bus_open_system(&opened)
        guard code >= 0, let opened else { throw .noBus(code: -code) }
        pointer = opened
    }

    deinit { sd_bus_close_unref(pointer) }

    var descriptor: Int32 { sd_bus_get_fd(pointer) }

    /// What to wait for, as `poll` has it.
    var events: Int32 { sd_bus_get_events(pointer) }

    /// Until when to wait at most, in microseconds of CLOCK_MONOTONIC; nil for no end.
    var deadline: UInt64? {
        var deadline: UInt64 = .max
        return sd_bus_get_timeout(pointer, &deadline) > 0 && deadline != .max ? deadline : nil
    }

    /// The next message that came; nil where there is none now.
    func next() throws(LoginManagerError) -> BusMessage? {
        while true {
            var taken: OpaquePointer?
            let code = sd_bus_process(pointer, &taken)
            if let taken { return BusMessage(taking: taken) }
            guard code >= 0 else { throw .noBus(code: -code) }
            guard sd_bus_is_open(pointer) > 0 else { throw .noBus(code: ECONNRESET) }
            if code == 0 { return nil }
        }
    }

    /// Has the bus send on what a rule selects.
    func hear(_ rule: String) throws(LoginManagerError) {
        _ = try ask(Self.bus, Self.busPath, Self.bus, "AddMatch", [rule])
    }

    /// - Returns: the number that the answer names.
    func askForOwner(of name: String) throws(LoginManagerError) -> UInt64 {
        try ask(Self.bus, Self.busPath, Self.bus, "GetNameOwner", [name])
    }

    /// Calls a method with texts, and does not wait for the answer.
    ///
    /// - Returns: the number that the answer names.
    func ask(
        _ peer: String, _ path: String, _ interface: String, _ method: String, _ texts: [String]
    ) throws(LoginManagerError) -> UInt64 {
        var made: OpaquePointer?
        var code = sd_bus_message_new_method_call(
            pointer, &made, peer, path, interface, method)
        guard code >= 0, let made else { throw .noBus(code: -code) }
        defer { sd_bus_message_unref(made) }
        for text in texts where code >= 0 {
            code = sd_bus_message_append_basic(made, CChar(UInt8(ascii: "s")), text)
        }
        var cookie: UInt64 = 0
        if code >= 0 { code = sd_bus_send(pointer, made, &cookie) }
        guard code >= 0 else { throw .noBus(code: -code) }
        return cookie
    }

    private static let bus = "org.freedesktop.DBus"
    private static let busPath = "/org/freedesktop/DBus"
}

/// A message of the bus, read from its beginning.
struct BusMessage: ~Copyable {
    private let pointer: OpaquePointer

    init(taking pointer: OpaquePointer) { self.pointer = pointer }

    deinit { sd_bus_message_unref(pointer) }

    /// The unique name of who sent it; the bus writes it there.
    var sender: String? { Self.text(sd_bus_message_get_sender(pointer)) }

    var path: String? { Self.text(sd_bus_message_get_path(pointer)) }

    /// The number of the call that it answers, well or not.
    var answers: UInt64? {
        var cookie: UInt64 = 0
        return sd_bus_message_get_reply_cookie(pointer, &cookie) >= 0 ? cookie : nil
    }

    var isError: Bool { sd_bus_message_is_method_error(pointer, nil) > 0 }

    func isSignal(_ interface: String, _ member: String) -> Bool {
        sd_bus_message_is_signal(pointer, interface, member) > 0
    }

    /// The next value, if it is a text.
    func text() -> String? {
        var value: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(pointer, CChar(UInt8(ascii: "s")), &value) > 0 else {
            return nil
        }
        return Self.text(value)
    }

    /// The next value, if it is a truth.
    func flag() -> Bool? {
        var value: Int32 = 0
        guard sd_bus_message_read_basic(pointer, CChar(UInt8(ascii: "b")), &value) > 0 else {
            return nil
        }
        return value != 0
    }

    /// The next value, if it is a descriptor; the caller closes it.
    func openedDescriptor() -> Int32? {
        var value: Int32 = -1
        guard sd_bus_message_read_basic(pointer, CChar(UInt8(ascii: "h")), &value) > 0 else {
            return nil
        }
        let copy = fcntl(value, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 ? copy : nil
    }

    private static func text(_ value: UnsafePointer<CChar>?) -> String? {
        value.map { String(cString: $0) }
    }
}
