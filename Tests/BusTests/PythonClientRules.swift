import Foundation
import Loop
import Testing
import Wire

@testable import Bus

@Suite(.enabled(if: Python.hasZeroMQ), .busLoop, .timeLimit(.minutes(1)))
struct PythonClientRules {
    let service: EchoService

    init() async throws {
        service = try await EchoService(limits: BusLimits(heartbeatMilliseconds: 200))
    }

    /// A script that is connected as a peer, with a function that frames an attachment.
    @ServiceLoop private func script(_ rest: String) throws -> String {
        let pair = try service.admit("python")
        let secretPath = "\(service.scratch.path)/python.key_secret"
        try CertificateFile.writeSecret(pair, to: secretPath)
        return """
            import json, struct, sys, time, zmq, zmq.auth
            socket = zmq.Context().socket(zmq.DEALER)
            socket.linger = 0
            socket.rcvtimeo = 10000
            socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(
                '\(secretPath)')
            socket.curve_serverkey = b'\(service.identity.publicKey.z85)'
            socket.connect('\(service.endpoint.text)')
            def framed(secret):
                frame = struct.pack('>I', len(secret)) + secret
                return frame + bytes(-len(frame) % 64)
            header = json.dumps({'v': 1, 'id': 5, 'method': 'echo.echo', 'owner': 'local',
                'timeout_ms': 5000}).encode()
            \(rest)
            """
    }

    @Test @ServiceLoop func aCallOfAnotherImplementationIsAnswered() async throws {
        let script = try script(
            """
            socket.send_multipart([header, b'', b'{}', framed(b'1234'), framed(bytes(200))])
            reply = socket.recv_multipart()
            assert json.loads(reply[0]) == {'v': 1, 'id': 5, 'status': 'ok'}
            assert reply[1:] == [b'{}', framed(b'1234'), framed(bytes(200))]
            print('good')
            """)
        #expect(await onThread { Python.run(script) } == "good")
    }

    @Test @ServiceLoop func aPeerThatIsFrozenIsGivenUp() async throws {
        let script = try script(
            """
            socket.send_multipart([header, b'', b'{}'])
            time.sleep(60)
            """)
        let process = try #require(Python.start(script))
        defer { kill(process.processIdentifier, SIGKILL) }
        #expect(await service.wait { !service.received.isEmpty })
        kill(process.processIdentifier, SIGSTOP)
        let route = try #require(service.received.first).route
        #expect(
            await service.wait {
                service.reply(id: 5, .ok, [], [], to: route)
                return service.socket?.counts.repliesToVanishedPeers ?? 0 > 0
            })
    }
}
