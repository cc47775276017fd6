public import AuthorityMessages
public import Secrets

/// What the authority asks of the program that loads PKCS #11 modules: one thing a process.
public struct DeviceKeyRequest: Sendable {
    /// Something that was made on a token.
    public struct Made: Equatable, Sendable {
        public var name: String
        /// The URI of the token that it was given to.
        public var token: String

        public init(name: String, token: String) {
            self.name = name
            self.token = token
        }
    }

    /// What is to be done.
    public enum Act: Sendable {
        /// Put a copy on the token, or under a key of it.
        case store(SharedSecret, name: String, form: DeviceKeyForm?, binding: [UInt8])
        /// Have the token give it back.
        case release(name: String, form: DeviceKeyForm, sealed: [UInt8], binding: [UInt8])
        /// Delete what the token has of these.
        case delete([Made])
    }

    /// A `pkcs11:` URI that fits one token.
    public var token: String
    /// Nil for a token that asks for it itself.
    public var pin: SharedSecret?
    public var act: Act

    public init(token: String, pin: SharedSecret?, act: Act) {
        self.token = token
        self.pin = pin
        self.act = act
    }
}

/// What came of it.
public enum DeviceKeyAnswer: Sendable {
    /// The URI of exactly that token, and what is kept outside of it.
    case stored(token: String, form: DeviceKeyForm, sealed: [UInt8])
    case released(SharedSecret)
    /// The names of which nothing is left on that token.
    case deleted([String])
    case failed(DeviceKeyFault)
}

extension DeviceKeyRequest {
    private enum Code: UInt8 {
        case store = 1
        case release
        case delete
    }

    /// As it crosses the pipe; nil where it has no room in a frame.
    public func encoded() -> SharedSecret? {
        var frame = FrameWriter()
        frame.text(token)
        frame.optional(pin)
        switch act {
        case .store(let key, let name, let form, let binding):
            frame.byte(Code.store.rawValue)
            frame.secret(key)
            frame.text(name)
            frame.text(form?.text ?? "")
            frame.bytes(binding)
        case .release(let name, let form, let sealed, let binding):
            frame.byte(Code.release.rawValue)
            frame.text(name)
            frame.text(form.text)
            frame.bytes(sealed)
            frame.bytes(binding)
        case .delete(let all):
            frame.byte(Code.delete.rawValue)
            for made in all {
                frame.text(made.name)
                frame.text(made.token)
            }
        }
        return frame.finish()
    }

    public init(decoding frame: borrowing SecretBytes) throws(FrameError) {
        var reader = FrameReader(frame)
        token = try reader.text()
        pin = try reader.optional()
        switch Code(rawValue: try reader.byte()) {
        case .store:
            let key = try reader.secret()
            act = .store(
                key, name: try reader.text(), form: try reader.form(), binding: try reader.bytes())
        case .release:
            let name = try reader.text()
            guard let form = try reader.form() else { throw FrameError() }
            act = .release(
                name: name, form: form, sealed: try reader.bytes(), binding: try reader.bytes())
        case .delete:
            var all: [Made] = []
            while !reader.isAtEnd {
                all.append(Made(name: try reader.text(), token: try reader.text()))
            }
            act = .delete(all)
        case nil: throw FrameError()
        }
        guard reader.isAtEnd else { throw FrameError() }
    }
}

extension DeviceKeyAnswer {
    private enum Code: UInt8 {
        case stored = 1
        case released
        case deleted
        case failed
    }

    public func encoded() -> SharedSecret? {
        var frame = FrameWriter()
        switch self {
        case .stored(let token, let form, let sealed):
            frame.byte(Code.stored.rawValue)
            frame.text(token)
            frame.text(form.text)
            frame.bytes(sealed)
        case .released(let key):
            frame.byte(Code.released.rawValue)
            frame.secret(key)
        case .deleted(let names):
            frame.byte(Code.deleted.rawValue)
            for name in names { frame.text(name) }
        case .failed(let fault):
            frame.byte(Code.failed.rawValue)
            frame.text(fault.rawValue)
        }
        return frame.finish()
    }

    public init(decoding frame: borrowing SecretBytes) throws(FrameError) {
        var reader = FrameReader(frame)
        switch Code(rawValue: try reader.byte()) {
        case .stored:
            let token = try reader.text()
            guard let form = try reader.form() else { throw FrameError() }
            self = .stored(token: token, form: form, sealed: try reader.bytes())
        case .released: self = .released(try reader.secret())
        case .deleted:
            var names: [String] = []
            while !reader.isAtEnd { names.append(try reader.text()) }
            self = .deleted(names)
        case .failed:
            guard let fault = DeviceKeyFault(rawValue: try reader.text()) else {
                throw FrameError()
            }
            self = .failed(fault)
        case nil: throw FrameError()
        }
        guard reader.isAtEnd else { throw FrameError() }
    }
}

extension FrameReader {
    /// Nil for an empty text.
    fileprivate mutating func form() throws(FrameError) -> DeviceKeyForm? {
        let text = try text()
        guard !text.isEmpty else { return nil }
        guard let form = DeviceKeyForm(text) else { throw FrameError() }
        return form
    }
}
