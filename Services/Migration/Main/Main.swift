import AuthorityClient
import Hosting
import MigrationCore
import Wire

@main
struct Main {
    static func main() {
        ServiceProgram<MigrationService>(calls: [.credentialAuthority, .walletVault]) { parts in
            let link = AuthorityLink(
                service: .migration, domains: [],
                authority: parts.client(of: .credentialAuthority), clock: parts.clock,
                timers: parts.timers)
            try parts.listen(to: .credentialAuthority) { link.hear($0) }
            return MigrationService(
                group: parts.group, link: link, vault: parts.client(of: .walletVault),
                clock: parts.clock, random: parts.random)
        }.main()
    }
}
