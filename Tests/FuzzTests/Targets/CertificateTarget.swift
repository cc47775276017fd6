import Wire

@testable import Bus

extension FuzzTarget {
    /// Any bytes as a certificate of a peer, who is admitted by what stands in it.
    static let certificate = FuzzTarget(
        name: "certificate",
        seeds: {
            [
                """
                #   a comment
                metadata
                    name = "app"
                    role = 'app'
                    owners = "local,other"   # with a comment
                    destroy = yes
                curve
                    public-key = "\(String(repeating: "a", count: 40))"
                """,
                "metadata\n  role = service:wallet-vault\n  owners = *\n", "", "a\r\n\tb=c\r\n",
            ].map { Array($0.utf8) }
        },
        run: { input in
            input.withUnsafeBytes { text in
                guard let fields = try? CertificateText.fields(of: text) else { return }
                var metadata: [String: String] = [:]
                for field in fields {
                    promise(0...text.count ~= field.value.upperBound, "a value outside of the text")
                    promise(!text[field.value].contains(0x0A), "a value of two lines")
                    promise(field.line >= 1 && (1...64).contains(field.name.utf8.count))
                    guard field.section == "metadata" else { continue }
                    metadata[field.name] = String(decoding: text[field.value], as: UTF8.self)
                }
                admit(metadata)
            }
        })

    /// An entry that is read is written as the same.
    private static func admit(_ metadata: [String: String]) {
        guard let key = PeerKey([UInt8](repeating: 4, count: 32)),
            let entry = PeerMetadata.read(metadata, name: "app", key: key)
        else { return }
        let again = PeerMetadata.read(PeerMetadata.write(entry), name: "app", key: key)
        promise(again?.role == entry.role && again?.mayDestroy == entry.mayDestroy)
        promise(again?.owners == entry.owners, "an entry changes as it is written")
        if case .some(let owners) = entry.owners { plantedTrap(owners.count > 2) }
    }
}
