import AuthorityClient
import Hosting
import Loop
import VaultCore
import Wire

@main
struct Main {
    static func main() {
        ServiceProgram<VaultService>(calls: [.credentialAuthority]) { parts in
            let link = AuthorityLink(
                service: .walletVault, domains: VaultService.keyDomains,
                authority: parts.client(of: .credentialAuthority), clock: parts.clock,
                timers: parts.timers)
            try parts.listen(to: .credentialAuthority) { link.hear($0) }
            return VaultService(
                group: parts.group, link: link, clock: parts.clock, random: parts.random,
                stretcher: PooledStretcher(pool: WorkerPool(width: 2)))
        }.main()
    }
}
