import Secrets
import Wire

extension FuzzTarget {
    /// Any bytes as a JSON text, in ordinary and in secret memory.
    static let json = FuzzTarget(
        name: "json",
        seeds: {
            [
                "{}", "[]", "0", "-0", "1e308", "18446744073709551615", #""\u00e9\ud83d\ude00\n""#,
                #"{"a":[1,2.5,-3e-2,true,false,null,{"b":"\\\"\/\b\f\n\r\t"}]," ":"ü"}"#,
                #"{"a":"AAEC","b":"0011","c":"_-8"}"#,
            ].map { Array($0.utf8) }
        },
        run: { input in
            let plain = Result { () throws(JSONError) in try JSONDocument(input).root }
            let secret = Result { () throws(JSONError) in
                try JSONDocument(SecretBytes(copying: input)).root
            }
            switch (plain, secret) {
            case (.success(let one), .success(let other)):
                var isDeep = false
                compare(one, other, depth: 0, isDeep: &isDeep)
                plantedTrap(isDeep)
            case (.failure(let one), .failure(let other)):
                promise(one == other, "secret memory changes an error")
                if case .malformed(let offset) = one {
                    promise(0...input.count ~= offset, "an offset outside of the text")
                }
            default: promise(false, "secret memory changes what is a text")
            }
        })

    /// Both readings hold the same, whichever way a value is asked for.
    private static func compare(
        _ one: JSONValue, _ other: JSONValue, depth: Int, isDeep: inout Bool
    ) {
        promise(depth < JSONDocument.depthLimit, "a text is too deep")
        isDeep = isDeep || depth == 6
        promise(text(one) == text(other), "secret memory changes a text")
        promise((try? one.uint64("")) == (try? other.uint64("")))
        promise((try? one.integer("")) == (try? other.integer("")))
        promise((try? one.number(""))?.isFinite != false, "a number that is none")
        promise((try? one.bool("")) == (try? other.bool("")))
        promise((try? one.hex("")) == (try? other.hex("")))
        let bytes = try? one.base64("")
        if let secret = try? other.secretBase64("") {
            promise(secret.withBytes { $0.elementsEqual(bytes ?? []) } && bytes != nil)
        } else {
            promise(bytes == nil, "secret memory changes what is base64")
        }
        if let items = try? one.array(""), let others = try? other.array("") {
            promise(items.count == others.count)
            for (item, twin) in zip(items, others) {
                compare(item, twin, depth: depth + 1, isDeep: &isDeep)
            }
        }
        if let object = try? one.object(""), let twin = try? other.object("") {
            promise(object.keys == twin.keys)
            promise(Set(object.keys).count == object.keys.count, "a key stands twice")
            for key in object.keys {
                guard let item = object.value(key), let match = twin.value(key) else { continue }
                compare(item, match, depth: depth + 1, isDeep: &isDeep)
            }
        }
    }

    private static func text(_ value: JSONValue) -> String? { try? value.string("") }
}
