import AuthorityClient
import Clocks
import Glibc
import Hosting
import Loop
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
            let cores = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
            return MigrationService(
                group: parts.group, link: link, vault: parts.client(of: .walletVault),
                clock: parts.clock, wallClock: SystemWallClock(), timers: parts.timers,
                random: parts.random, pool: WorkerPool(width: max(2, cores)),
                report: { [log = parts.log] summary in summary.write(to: log) })
        }.main()
    }
}
