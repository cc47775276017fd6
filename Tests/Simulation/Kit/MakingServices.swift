import AuthorityClient
import AuthorityCore
import Clocks
import DiskDouble
import LimiterCore
import Loop
import MigrationCore
import Secrets
import Serving
import SharesCore
import Storage
import TestKit
import Tokens
import VaultCore
import Wire

/// How the machine makes its services: as their programs do, over simulated ports.
extension SimulatedMachine {
    /// One service over a disk.
    ///
    /// - Throws: where the disk does not let it start.
    func make(_ service: ServiceName, on disk: TestDisk) throws -> any SimulatedProcess {
        let place = Place(
            disk: disk, timers: Timers(clock: clock), metrics: MetricsRegistry(),
            sender: SimulatedNetwork.Sender(peer: Directory.key(of: service)))
        return switch service {
        case .attemptLimiter: try makeLimiter(place)
        case .credentialAuthority: try makeAuthority(place)
        case .walletVault: try makeVault(place)
        case .backupShares: try makeShares(place)
        case .migration: try makeMigration(place)
        }
    }

    /// What each service gets of its own.
    private struct Place {
        let disk: TestDisk
        let timers: Timers
        let metrics: MetricsRegistry
        let sender: SimulatedNetwork.Sender
    }

    private func makeLimiter(_ place: Place) throws -> any SimulatedProcess {
        let ground = try ground(LimiterService.schema, place)
        let limiter = LimiterService(
            group: ground.group, clock: ground.clock, random: random, metrics: place.metrics)
        return try hosted(limiter, ground, place)
    }

    private func makeAuthority(_ place: Place) throws -> any SimulatedProcess {
        let ground = try ground(AuthorityService.schema, place)
        let authority = try AuthorityService(
            AuthorityParts(
                group: ground.group, clock: ground.clock, awake: clock,
                wallClock: wallClock, timers: place.timers, random: random,
                limiter: way(from: place.sender, to: .attemptLimiter),
                vault: way(from: place.sender, to: .walletVault),
                kdf: CheapKDF(timers: place.timers, milliseconds: mishaps.kdfMilliseconds),
                deviceKeys: SimulatedReader(
                    tokens, timers: place.timers, sender: place.sender),
                events: EventsOut { [weak self, sender = place.sender] bytes in
                    guard !sender.isDead else { return }
                    self?.publish(.event(bytes))
                },
                metrics: place.metrics))
        authority.startHeartbeat()
        return try hosted(authority, ground, place)
    }

    private func makeVault(_ place: Place) throws -> any SimulatedProcess {
        let ground = try ground(VaultService.schema, place)
        let link = link(.walletVault, VaultService.keyDomains, ground, place)
        let vault = VaultService(
            group: ground.group, link: link, clock: ground.clock, random: random,
            stretcher: PooledStretcher(pool: .withoutThreads))
        return try hosted(vault, ground, place) { link.hear($0) }
    }

    private func makeShares(_ place: Place) throws -> any SimulatedProcess {
        let ground = try ground(SharesService.schema, place)
        let link = link(.backupShares, SharesService.keyDomains, ground, place)
        let shares = SharesService(
            group: ground.group, link: link, vault: way(from: place.sender, to: .walletVault),
            clock: ground.clock, wallClock: wallClock, random: random,
            identifier: PooledIdentifier(pool: .withoutThreads))
        return try hosted(shares, ground, place) { link.hear($0) }
    }

    private func makeMigration(_ place: Place) throws -> any SimulatedProcess {
        let ground = try ground(MigrationService.schema, place)
        let link = link(.migration, [], ground, place)
        var limits = MigrationLimits()
        limits.lanes = 2
        let migration = MigrationService(
            group: ground.group, link: link, vault: way(from: place.sender, to: .walletVault),
            clock: ground.clock, wallClock: wallClock, timers: place.timers,
            random: random, pool: .withoutThreads, limits: limits, report: { _ in })
        return try hosted(migration, ground, place) { link.hear($0) }
    }

    // MARK: Parts

    private func link(
        _ service: ServiceName, _ domains: [String], _ ground: ProcessGround, _ place: Place
    ) -> AuthorityLink {
        AuthorityLink(
            service: service, domains: domains,
            authority: way(from: place.sender, to: .credentialAuthority), clock: ground.clock,
            timers: place.timers)
    }

    private func ground(_ schema: Schema, _ place: Place) throws -> ProcessGround {
        let store = try Database(path: "store.sqlite", schema: schema, vfs: place.disk.name)
        let clock = ProcessClock(clock)
        return ProcessGround(
            life: lives, clock: clock, timers: place.timers,
            group: CommitGroup(store: store, clock: clock), sender: place.sender)
    }

    private func hosted<S: Service>(
        _ service: S, _ ground: ProcessGround, _ place: Place,
        news: @escaping (EventNotice) -> Void = { _ in }
    ) throws -> any SimulatedProcess {
        let sender = ground.sender
        return try HostedProcess(
            service, ground: ground, metrics: place.metrics, peers: directory, news: news
        ) { [weak self] number, reply in
            guard let self, !sender.isDead, let exchange = self.network.exchange(number) else {
                return
            }
            self.promises.watch(exchange, reply)
            self.network.post(.reply(exchange, reply))
        }
    }

    /// A way to a service: another service's, or that of a client, who outlives the machine's
    /// boots.
    func way(
        from sender: SimulatedNetwork.Sender, to service: ServiceName
    ) -> ServiceClient {
        ServiceClient(port: SimulatedWay(network, from: sender, to: service))
    }
}
