internal import CP11Kit
internal import Glibc

/// The PKCS #11 modules of this process, and the tokens behind them.
///
/// A module is foreign code that may hang, crash or keep what it was given: the process that loads
/// one holds no more than the one secret that it is asked for, and ends soon.
public final class TokenModules {
    private let functions: [CK_FUNCTION_LIST]
    private static let slotLimit: CK_ULONG = 256

    /// Loads one module, or those that p11-kit's configuration of this machine names.
    public init(only path: String?) throws(HardwareTokenError) {
        guard let path else {
            guard let modules = p11_kit_modules_load_and_initialize(0) else { throw .noModule }
            var found: [CK_FUNCTION_LIST] = []
            var next = modules
            while let module = next.pointee {
                found.append(module.pointee)
                next += 1
            }
            guard !found.isEmpty else { throw .noModule }
            functions = found
            return
        }
        guard let module = p11_kit_module_load(path, 0),
            p11_kit_module_initialize(module) == CKR_OK
        else { throw .noModule }
        functions = [module.pointee]
    }

    /// A token that is plugged in, and the module that speaks with it.
    struct Found {
        let functions: CK_FUNCTION_LIST
        let slot: CK_SLOT_ID
        let info: CK_TOKEN_INFO

        func has(_ flag: CK_FLAGS) -> Bool { info.flags & flag != 0 }
    }

    /// The one token that fits.
    func token(_ uri: TokenURI) throws(HardwareTokenError) -> Found {
        var fitting: [Found] = []
        for module in functions {
            for slot in Self.slots(of: module) {
                var info = CK_TOKEN_INFO()
                guard module.C_GetTokenInfo(slot, &info) == CKR_OK else { continue }
                let found = Found(functions: module, slot: slot, info: info)
                if found.has(CKF_TOKEN_INITIALIZED), uri.matches(info) {
                    fitting.append(found)
                }
            }
        }
        guard let token = fitting.first else { throw .noToken }
        guard fitting.count == 1 else { throw .severalTokens }
        return token
    }

    /// A module that does not tell its slots has none for us.
    private static func slots(of module: CK_FUNCTION_LIST) -> [CK_SLOT_ID] {
        var count: CK_ULONG = 0
        let present = CK_BBOOL(CK_TRUE)
        guard module.C_GetSlotList(present, nil, &count) == CKR_OK, count > 0 else {
            return []
        }
        // One that comes in between has room.
        count = min(count + 4, slotLimit)
        var slots = [CK_SLOT_ID](repeating: 0, count: Int(count))
        guard module.C_GetSlotList(present, &slots, &count) == CKR_OK else { return [] }
        return Array(slots.prefix(Int(count)))
    }
}
