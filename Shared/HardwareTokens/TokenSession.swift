internal import CP11Kit
internal import Secrets

/// A session with one token, logged in where the token wants that.
final class TokenSession {
    let functions: CK_FUNCTION_LIST
    let handle: CK_SESSION_HANDLE
    let token: TokenModules.Found

    /// - Parameters:
    ///   - pin: nil for a token that asks at itself, or not at all.
    ///   - writing: whether objects are made or deleted.
    init(
        _ token: TokenModules.Found, pin: SharedSecret?, writing: Bool
    ) throws(HardwareTokenError) {
        self.token = token
        functions = token.functions
        var handle: CK_SESSION_HANDLE = 0
        let flags = CKF_SERIAL_SESSION | (writing ? CKF_RW_SESSION : 0)
        try check(functions.C_OpenSession(token.slot, flags, nil, nil, &handle))
        self.handle = handle
        try logIn(pin)
    }

    deinit { _ = functions.C_CloseSession(handle) }

    private func logIn(_ pin: SharedSecret?) throws(HardwareTokenError) {
        guard token.has(CKF_LOGIN_REQUIRED) else { return }
        guard !token.has(CKF_USER_PIN_LOCKED) else { throw .pinLocked }
        let value: CK_RV
        if token.has(CKF_PROTECTED_AUTHENTICATION_PATH) {
            value = functions.C_Login(handle, CKU_USER, nil, 0)
        } else {
            guard let pin else { throw .pinNeeded }
            value = pin.bytes.withBytes { bytes in
                // The module reads it; the standard's interface knows no const.
                let start = UnsafeMutablePointer(
                    mutating: bytes.bindMemory(to: CK_UTF8CHAR.self).baseAddress)
                return functions.C_Login(
                    handle, CKU_USER, start, CK_ULONG(bytes.count))
            }
        }
        guard value != CKR_USER_ALREADY_LOGGED_IN else { return }
        try check(value)
    }

    // MARK: Objects

    /// The objects that have all of these attributes, at most `limit`.
    func find(
        _ attributes: [Attribute], limit: Int = 8
    ) throws(HardwareTokenError) -> [CK_OBJECT_HANDLE] {
        try withTemplate(attributes) { template, count throws(HardwareTokenError) in
            try check(functions.C_FindObjectsInit(handle, template, count))
        }
        var found = [CK_OBJECT_HANDLE](repeating: 0, count: limit)
        var count: CK_ULONG = 0
        let value = functions.C_FindObjects(handle, &found, CK_ULONG(limit), &count)
        _ = functions.C_FindObjectsFinal(handle)
        try check(value)
        return Array(found.prefix(Int(count)))
    }

    func create(_ attributes: [Attribute]) throws(HardwareTokenError) {
        var object: CK_OBJECT_HANDLE = 0
        try withTemplate(attributes) { template, count throws(HardwareTokenError) in
            try check(functions.C_CreateObject(handle, template, count, &object))
        }
    }

    func destroy(_ object: CK_OBJECT_HANDLE) throws(HardwareTokenError) {
        try check(functions.C_DestroyObject(handle, object))
    }

    /// An attribute's value, read into memory for secrets; at most `limit` bytes.
    func value(
        of type: CK_ATTRIBUTE_TYPE, _ object: CK_OBJECT_HANDLE, limit: Int
    ) throws(HardwareTokenError) -> SecretBytes {
        var memory = SecretBytes(count: limit)
        let count = try memory.withMutableBytes { bytes throws(HardwareTokenError) in
            var attribute = CK_ATTRIBUTE(
                type: type, pValue: bytes.baseAddress, ulValueLen: CK_ULONG(limit))
            let value = functions.C_GetAttributeValue(handle, object, &attribute, 1)
            guard value != CKR_BUFFER_TOO_SMALL else { throw .mismatch }
            try check(value)
            return Int(clamping: attribute.ulValueLen)
        }
        guard count <= limit else { throw .mismatch }
        return memory.slice(0..<count)
    }

    func mechanism(_ type: CK_MECHANISM_TYPE, does flag: CK_FLAGS) -> Bool {
        var info = CK_MECHANISM_INFO()
        guard functions.C_GetMechanismInfo(token.slot, type, &info) == CKR_OK else {
            return false
        }
        return info.flags & flag != 0
    }
}
