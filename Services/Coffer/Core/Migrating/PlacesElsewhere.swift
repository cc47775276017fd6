internal import MigrationMessages
internal import Wire

/// Where wallets of a source are that runs did not look at, because they were taken into namespaces
/// other than those of the runs.
struct PlacesElsewhere {
    private let places: [PlanMigration.Reply.Place]

    /// - Parameters:
    ///   - places: where wallets of the source were taken in.
    ///   - looked: the places of the runs.
    init(_ places: [PlanMigration.Reply.Place], besides looked: [NetworkPlace]) {
        self.places = places.filter { place in
            !looked.contains { $0.network == place.network && $0.namespace == place.namespace }
        }
    }

    var isEmpty: Bool { places.isEmpty }

    /// How many wallets.
    var count: UInt64 { places.reduce(0) { $0 + $1.wallets } }

    /// As in "3 wallets of the source were taken into another namespace (dash.mainnet)"; nil where
    /// there are none.
    var sentence: String? {
        guard !isEmpty else { return nil }
        let wallets = ShownText.count(
            count, "wallet of the source was", "wallets of the source were")
        var names: [String] = []
        for place in places where !names.contains(place.namespace.text) {
            names.append(place.namespace.text)
        }
        return "\(wallets) taken into another namespace (\(names.joined(separator: ", ")))"
    }

    /// What to do about them.
    static let advice = "Give the right one to --namespace or --testnet-namespace."

    func write(to writer: inout JSONWriter) {
        writer.uint64("elsewhere", count)
        writer.objects("elsewhere_places", places) { writer, place in place.write(to: &writer) }
    }
}
