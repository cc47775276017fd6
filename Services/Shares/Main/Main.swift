import AuthorityClient
import Clocks
import Hosting
import Loop
import SharesCore
import Wire

@main
struct Main {
    static func main() {
        ServiceProgram<SharesService>(calls: [.credentialAuthority, .walletVault]) { parts in
            let link = AuthorityLink(
                service: .backupShares, domains: SharesService.keyDomains,
                authority: parts.client(of: .credentialAuthority), clock: parts.clock,
                timers: parts.timers)
            try parts.listen(to: .credentialAuthority) { link.hear($0) }
            return SharesService(
                group: parts.group, link: link, vault: parts.client(of: .walletVault),
                clock: parts.clock, wallClock: SystemWallClock(), random: parts.random,
                identifier: PooledIdentifier(pool: WorkerPool(width: 2)))
        }.main()
    }
}
