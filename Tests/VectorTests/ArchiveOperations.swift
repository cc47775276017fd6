import PropertyLists
import Wire

/// The lists of wallet ids that the legacy app archived.
let archiveOperations: [String: Operation] = [
    "unarchive": Operation(inputs: ["archive"]) { inputs in
        let archive = try inputs.hex("archive")
        do throws(PropertyListError) {
            return .ok(.array(try KeyedArchive.strings(in: archive).map(Value.string)))
        } catch {
            return .error(.other)
        }
    }
]
