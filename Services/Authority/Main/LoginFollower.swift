import AuthorityCore
import Home
import Hosting
import LoginManager
import Loop
import Wire

/// Has the gates of some owners follow the login manager, for as long as there is one.
///
/// Where there is none the authority runs on, says so once, and looks again from time to time.
@ServiceLoop
final class LoginFollower {
    private static let pauseMilliseconds: UInt64 = 2_000

    private let parts: ServiceParts
    private let service: AuthorityService
    private let owners: [Owner]
    private var manager: LoginManager?
    private var watched: ServiceParts.Watched?
    /// What the log was told last.
    private var isHeard: Bool?

    init(_ parts: ServiceParts, _ service: AuthorityService) {
        self.parts = parts
        self.service = service
        owners = parts.settings.loginOwners
    }

    func start() {
        if !owners.isEmpty { connect() }
    }

    private func connect() {
        do throws(LoginManagerError) {
            let made = try LoginManager()
            manager = made
            watched = parts.watch(made.descriptor) { self.take() }
            take()
        } catch {
            lose()
        }
    }

    private func take() {
        do throws(LoginManagerError) {
            for news in try manager?.take() ?? [] { try follow(news) }
        } catch {
            lose()
        }
    }

    private func follow(_ news: LoginNews) throws(LoginManagerError) {
        switch news {
        case .present:
            say(isHeard: true)
            try manager?.delaySleep()
        case .absent:
            say(isHeard: false)
            service.forgetScreens()
        case .lock(let screen): service.lock(owners, withScreen: screen)
        case .unlock(let screen): service.unlock(owners, withScreen: screen)
        case .sleep:
            ServiceLoop.start { [service, owners, manager] in
                await service.lockForSleep(owners)
                manager?.letSleep()
            }
        case .wake: try manager?.delaySleep()
        }
    }

    private func lose() {
        if let watched { parts.unwatch(watched) }
        watched = nil
        manager = nil
        say(isHeard: false)
        service.forgetScreens()
        ServiceLoop.start { [self] in
            await parts.timers.sleep(milliseconds: Self.pauseMilliseconds)
            connect()
        }
    }

    private func say(isHeard: Bool) {
        guard isHeard != self.isHeard else { return }
        self.isHeard = isHeard
        if isHeard {
            parts.log.info("login_manager_heard")
        } else {
            parts.log.warning("login_manager_absent")
        }
    }
}
