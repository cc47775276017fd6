internal import CP11Kit
internal import Secrets

/// A private data object of a token that holds the key itself.
struct DataObject {
    let name: String

    /// What everything has that was made under a name, whatever it is.
    static func attributes(of name: String) -> [Attribute] {
        [.flag(CKA_TOKEN, true), label(name)]
    }

    static func label(_ name: String) -> Attribute {
        .bytes(CKA_LABEL, Array(name.utf8))
    }

    private static var kind: Attribute { .number(CKA_CLASS, CKO_DATA) }
    private static var application: Attribute { .bytes(CKA_APPLICATION, Array("coffer".utf8)) }

    /// - Throws: ``HardwareTokenError/unsupported`` where the token takes none, or one for all.
    func store(
        _ key: borrowing SecretBytes, _ session: TokenSession
    ) throws(HardwareTokenError) {
        try key.withBytes { bytes throws(HardwareTokenError) in
            do throws(HardwareTokenError) {
                try session.create(
                    Self.attributes(of: name) + [
                        Self.kind, Self.application,
                        .flag(CKA_PRIVATE, true),
                        .flag(CKA_MODIFIABLE, false),
                        .lent(CKA_VALUE, bytes),
                    ])
            } catch {
                throw error.meansUnsupported ? .unsupported : error
            }
        }
        let object = try object(session)
        let isPrivate = try session.value(
            of: CKA_PRIVATE, object, limit: 1)
        guard isPrivate.withBytes({ $0.first == 1 }) else {
            try session.destroy(object)
            throw .unsupported
        }
    }

    func read(_ session: TokenSession) throws(HardwareTokenError) -> SecretBytes {
        try session.value(
            of: CKA_VALUE, try object(session), limit: KeyCopies.keyBytes)
    }

    private func object(_ session: TokenSession) throws(HardwareTokenError) -> CK_OBJECT_HANDLE {
        let found = try session.find(Self.attributes(of: name) + [Self.kind, Self.application])
        guard let object = found.first else { throw .noObject }
        guard found.count == 1 else { throw .mismatch }
        return object
    }
}

extension HardwareTokenError {
    /// Whether a token that says so takes no such object, and may take another.
    var meansUnsupported: Bool {
        guard case .failed(let value) = self else { return false }
        return [
            CKR_FUNCTION_NOT_SUPPORTED, CKR_TEMPLATE_INCONSISTENT, CKR_TEMPLATE_INCOMPLETE,
            CKR_ATTRIBUTE_TYPE_INVALID, CKR_ATTRIBUTE_VALUE_INVALID, CKR_ATTRIBUTE_READ_ONLY,
            CKR_MECHANISM_INVALID, CKR_MECHANISM_PARAM_INVALID, CKR_KEY_SIZE_RANGE,
            CKR_DEVICE_MEMORY, CKR_CURVE_NOT_SUPPORTED,
        ].contains(value)
    }
}
