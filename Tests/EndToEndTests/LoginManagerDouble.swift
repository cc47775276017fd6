import CSystemd
import Glibc
import TestKit

/// A bus of a test's own.
final class PrivateBus {
    let address: String
    private let folder: TemporaryFolder
    private var process: pid_t?

    /// Makes its place; nobody listens there until ``start()``.
    init() throws {
        folder = try TemporaryFolder()
        address = "unix:path=\(folder.path)/bus"
        try write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <listen>\(address)</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow user="*"/>
                <allow own="*"/>
                <allow send_destination="*"/>
                <allow send_type="signal"/>
                <allow receive_sender="*"/>
              </policy>
            </busconfig>
            """, to: folder.path(of: "bus.conf"))
    }

    deinit { stop() }

    func start() throws {
        process = try spawn(
            "/usr/bin/dbus-daemon",
            ["--config-file=\(folder.path)/bus.conf", "--nofork", "--nopidfile"],
            errors: folder.path(of: "bus.log"))
        for _ in 0..<200 where access("\(folder.path)/bus", F_OK) != 0 { usleep(10_000) }
    }

    func stop() {
        guard let process else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        unlink("\(folder.path)/bus")
        self.process = nil
    }
}

/// Says on a bus what a login manager would, and does nothing by itself: a test has it look at what
/// came.
final class LoginManagerDouble {
    /// How often it was asked to delay a sleep.
    private(set) var inhibitions = 0
    private let bus: OpaquePointer
    /// Ends when whoever delays the sleep lets it come.
    private var delay: Int32 = -1

    /// - Parameter isManager: whether it takes the manager's name, or only speaks like one.
    init(on bus: PrivateBus, isManager: Bool = true) throws {
        var made: OpaquePointer?
        guard sd_bus_new(&made) >= 0, let made else { throw TestError("sd_bus_new") }
        self.bus = made
        guard sd_bus_set_address(made, bus.address) >= 0, sd_bus_set_bus_client(made, 1) >= 0,
            sd_bus_negotiate_fds(made, 1) >= 0, sd_bus_start(made) >= 0,
            !isManager || sd_bus_request_name(made, "org.freedesktop.login1", 0) >= 0
        else { throw TestError("the bus does not let the double in") }
    }

    deinit {
        close(delay)
        sd_bus_flush_close_unref(bus)
    }

    /// Answers what comes until a condition holds.
    func serve(until isMet: () throws -> Bool) throws {
        for _ in 0..<1_000 {
            while true {
                var message: OpaquePointer?
                guard sd_bus_process(bus, &message) > 0 else { break }
                if let message {
                    try answer(message)
                    sd_bus_message_unref(message)
                }
            }
            if try isMet() { return }
            usleep(10_000)
        }
        throw TestError("what a test waits for does not come")
    }

    /// Whether somebody delays the sleep now.
    var isDelayed: Bool {
        var item = pollfd(fd: delay, events: Int16(POLLIN), revents: 0)
        return delay >= 0 && poll(&item, 1, 0) == 0
    }

    func lock(_ session: String) throws { try say(session, "Session", "Lock") }

    func unlock(_ session: String) throws { try say(session, "Session", "Unlock") }

    func prepareForSleep(_ isBegin: Bool) throws {
        try say(nil, "Manager", "PrepareForSleep", flag: isBegin)
    }

    /// A signal of the manager, or of one of its sessions.
    ///
    /// - Parameter receiver: whom alone it is sent to; everybody who listens if nil.
    func say(
        _ session: String?, _ interface: String, _ member: String, flag: Bool? = nil,
        to receiver: String? = nil
    ) throws {
        let path = "/org/freedesktop/login1" + (session.map { "/session/\($0)" } ?? "")
        var made: OpaquePointer?
        guard
            sd_bus_message_new_signal(
                bus, &made, path, "org.freedesktop.login1.\(interface)", member) >= 0,
            let made
        else { throw TestError("no signal") }
        defer { sd_bus_message_unref(made) }
        if let flag {
            var value: Int32 = flag ? 1 : 0
            sd_bus_message_append_basic(made, CChar(UInt8(ascii: "b")), &value)
        }
        let sent =
            receiver.map { sd_bus_send_to(bus, made, $0, nil) } ?? sd_bus_send(bus, made, nil)
        guard sent >= 0, sd_bus_flush(bus) >= 0 else { throw TestError("not sent") }
    }

    /// Who asked last to delay a sleep, by the name that the bus gave him.
    private(set) var asker = ""

    /// Returns when a peer has read all that this one sent it before.
    func awaitReading(by peer: String) throws {
        var made: OpaquePointer?
        guard
            sd_bus_message_new_method_call(
                bus, &made, peer, "/", "org.freedesktop.DBus.Peer", "Ping") >= 0, let made
        else { throw TestError("no call") }
        defer { sd_bus_message_unref(made) }
        var reply: OpaquePointer?
        guard sd_bus_call(bus, made, 10_000_000, nil, &reply) >= 0 else {
            throw TestError("the peer does not answer")
        }
        sd_bus_message_unref(reply)
    }

    private func answer(_ message: OpaquePointer) throws {
        guard
            sd_bus_message_is_method_call(
                message, "org.freedesktop.login1.Manager", "Inhibit") > 0
        else { return }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw TestError("pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        close(delay)
        delay = ends[0]
        defer { close(ends[1]) }
        asker = sd_bus_message_get_sender(message).map { String(cString: $0) } ?? ""
        var reply: OpaquePointer?
        guard sd_bus_message_new_method_return(message, &reply) >= 0, let reply else {
            throw TestError("no reply")
        }
        defer { sd_bus_message_unref(reply) }
        sd_bus_message_append_basic(reply, CChar(UInt8(ascii: "h")), &ends[1])
        guard sd_bus_send(bus, reply, nil) >= 0, sd_bus_flush(bus) >= 0 else {
            throw TestError("not answered")
        }
        inhibitions += 1
    }
}
