import AuthorityMessages
import DeviceKeyFrames
import Glibc
import HardwareTokens
import Secrets

/// Does one thing with one hardware token for the authority, and ends.
///
/// PKCS #11 modules are foreign code: they run here, in a process that has one PIN and one key at
/// the most, that nobody waits for longer than it is worth, and that the authority kills.
@main
struct Main {
    /// The authority kills it sooner; the kernel, where it does not.
    private static let secondsMax: UInt32 = 120

    static func main() {
        ProcessHardening.apply()
        ProcessHardening.closeInherited()
        alarm(secondsMax)
        let output = Pipes.takeOutput()
        let arguments = CommandLine.arguments.dropFirst()
        // What it makes on a token after its authority is gone would stand in no journal.
        guard (1...2).contains(arguments.count), let parent = arguments.first.flatMap(Int32.init),
            ProcessHardening.endsWith(parent: parent)
        else { _exit(2) }
        guard let frame = Pipes.readFrame(STDIN_FILENO),
            let request = try? DeviceKeyRequest(decoding: frame.bytes)
        else { _exit(2) }
        let answer = answer(request, module: arguments.dropFirst().first)
        guard let encoded = answer.encoded() else { _exit(1) }
        // No module gets the chance to hang while it is unloaded.
        _exit(Pipes.write(encoded, to: output) ? 0 : 1)
    }

    private static func answer(_ request: DeviceKeyRequest, module: String?) -> DeviceKeyAnswer {
        do throws(HardwareTokenError) {
            let uri = try TokenURI(request.token)
            let copies = KeyCopies(
                modules: try TokenModules(only: module), pin: request.pin, random: KernelRandom())
            switch request.act {
            case .store(let key, let name, let form, let binding):
                let stored = try copies.store(
                    key, name: name, on: uri, form: form.map { CopyForm($0) }, binding: binding)
                return .stored(
                    token: stored.token, form: DeviceKeyForm(stored.form), sealed: stored.sealed)
            case .release(let name, let form, let sealed, let binding):
                return .released(
                    SharedSecret(
                        try copies.release(
                            name: name, on: uri, form: CopyForm(form), sealed: sealed,
                            binding: binding)))
            case .delete(let all):
                return .deleted(
                    try copies.delete(all.map { (name: $0.name, token: $0.token) }, on: uri))
            }
        } catch {
            return .failed(DeviceKeyFault(error))
        }
    }
}

extension CopyForm {
    fileprivate init(_ form: DeviceKeyForm) {
        switch form {
        case .data: self = .data
        case .ecdh: self = .ecdh
        case .rsa: self = .rsa
        }
    }
}

extension DeviceKeyForm {
    fileprivate init(_ form: CopyForm) {
        switch form {
        case .data: self = .data
        case .ecdh: self = .ecdh
        case .rsa: self = .rsa
        }
    }
}

extension DeviceKeyFault {
    fileprivate init(_ error: HardwareTokenError) {
        switch error {
        case .invalidURI: self = .invalidURI
        case .noToken: self = .noToken
        case .severalTokens: self = .severalTokens
        case .pinNeeded: self = .pinNeeded
        case .wrongPIN: self = .wrongPIN
        case .pinLocked: self = .pinLocked
        case .cancelled: self = .cancelled
        case .noObject: self = .noObject
        case .unsupported: self = .unsupported
        case .mismatch: self = .mismatch
        case .noModule: self = .noModule
        case .failed: self = .tokenFailed
        }
    }
}
