public import Wire

/// The wallets of a namespace, oldest first.
///
/// Takes a resource session; opens nothing.
public struct ListWallets: PageRequest, Equatable {
    public static var method: String { "vault.list" }
    public static var kind: MethodKind { .read }
    public static var callers: Callers { .apps }
    public static var tokenUse: TokenUse { .required }

    public static let pageLimit = 100

    public var namespace: Namespace
    /// The last wallet of the page before; nil for the first page.
    public var after: WalletID?

    public init(namespace: Namespace, after: WalletID? = nil) {
        self.namespace = namespace
        self.after = after
    }

    /// One page, and whether there are more.
    public struct Reply: Message, Equatable {
        public var wallets: [WalletDescription]
        public var more: Bool
        /// What names the wallets between these, and behind the last of them where there are no
        /// more, whose row in the store cannot be read: the wallet's id, or `row` and its number
        /// where that cannot be read either; of a page the first hundred.
        public var damaged: [String]

        public init(wallets: [WalletDescription], more: Bool, damaged: [String] = []) {
            self.wallets = wallets
            self.more = more
            self.damaged = damaged
        }

        public init(from object: JSONObject) throws(JSONError) {
            try object.refuseUnknownKeys(["wallets", "more", "damaged"])
            wallets = []
            for entry in try object.objects("wallets") {
                wallets.append(try WalletDescription(from: entry))
            }
            more = try object.bool("more")
            damaged = try object.strings("damaged")
        }

        public func write(to writer: inout JSONWriter) {
            writer.objects("wallets", wallets) { writer, wallet in wallet.write(to: &writer) }
            writer.bool("more", more)
            writer.strings("damaged", damaged)
        }
    }
}
