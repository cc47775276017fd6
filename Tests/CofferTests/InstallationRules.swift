import Bus
import Glibc
import Home
import TestKit
import Testing
import Wire

@testable import CofferCore

@Suite struct InstallationRules {
    private let folder: TemporaryFolder
    private let home: Home

    init() throws {
        folder = try TemporaryFolder()
        home = Home(path: folder.path(of: "deep/er/home"))
    }

    private func make(runPath: String? = nil) throws(CommandFailure) -> [String] {
        var maker = InstallationMaker(home: home)
        try maker.make(runPath: runPath)
        return maker.made
    }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    @Test func everythingIsMadeAndForThisUserAlone() throws {
        #expect(try !make().isEmpty)
        for path in [
            home.path, home.keysPath, home.peersPath, "\(home.path)/run", "\(home.path)/state",
            "\(home.path)/log", "\(home.path)/state/wallet-vault", "\(home.path)/state/migration",
        ] {
            #expect(mode(path) == 0o700, "\(path)")
        }
        for name in ServiceName.allCases.map(\.text) + ["coffer"] {
            #expect(mode(home.secretKeyPath(of: name)) == 0o600)
            let pair = try CertificateFile.readSecret(home.secretKeyPath(of: name))
            #expect(
                try CertificateFile.readPublic(home.publicKeyPath(of: name)).key == pair.publicKey)
        }
        #expect(mode(home.settingsPath) == 0o600)
        #expect(try Settings.read(of: home) == Settings(home: home))
    }

    @Test func theServicesAndTheCommandAreAdmitted() throws {
        _ = try make()
        let entries = try PeerFolder(path: home.peersPath).list().entries
        #expect(entries.count == ServiceName.allCases.count + 1)
        for entry in entries where entry.name != "coffer" {
            #expect(entry.role.text == "service:\(entry.name)")
            #expect(entry.owners == .all)
            #expect(!entry.mayDestroy)
        }
        let coffer = try #require(entries.first { $0.name == "coffer" })
        #expect(coffer.role == .app)
        #expect(coffer.owners.text == "local")
        #expect(coffer.mayDestroy)
    }

    @Test func aSecondTimeNothingIsMadeOrChanged() throws {
        _ = try make()
        let key = try CertificateFile.readPublic(home.publicKeyPath(of: "coffer")).key
        #expect(try make() == [])
        #expect(try CertificateFile.readPublic(home.publicKeyPath(of: "coffer")).key == key)
    }

    @Test func whatIsMissingIsMadeAgainFromWhatIsThere() throws {
        _ = try make()
        let path = home.publicKeyPath(of: "coffer")
        let key = try CertificateFile.readPublic(path).key
        unlink(path)
        unlink("\(home.peersPath)/coffer.key")
        #expect(try make() == [path, "\(home.peersPath)/coffer.key"])
        #expect(try CertificateFile.readPublic(path).key == key)
    }

    /// As an earlier release left it: without the services that came later.
    @Test func aHomeOfFewerServicesGetsWhatItLacksAndKeepsTheRest() throws {
        _ = try make()
        let later: [ServiceName] = [.backupShares, .migration]
        var removed: Set<String> = []
        for service in later {
            let files = [
                home.secretKeyPath(of: service.text), home.publicKeyPath(of: service.text),
                "\(home.peersPath)/\(service.text).key",
            ]
            let folders = [home.statePath(of: service), "\(home.path)/log/\(service.text)"]
            for path in files { #expect(unlink(path) == 0) }
            for path in folders { #expect(rmdir(path) == 0) }
            removed.formUnion(files + folders)
        }
        let peers = PeerFolder(path: home.peersPath)
        let before = try peers.list().entries
        #expect(before.count == 4)
        #expect(Set(try make()) == removed)
        let after = try peers.list().entries
        #expect(after.count == 6)
        for entry in before {
            #expect(after.first { $0.name == entry.name }?.key == entry.key)
        }
    }

    /// Of a group's deployment, which root brings up to date.
    @Test(.enabled(if: geteuid() == 0, "only root can give files to other users"))
    func rootAddsToAHomeWhoseServicesHaveUsersOfTheirOwn() throws {
        _ = try make()
        let key = try CertificateFile.readPublic(home.publicKeyPath(of: "wallet-vault")).key
        for (path, mode) in [(home.path, 0o750), ("\(home.path)/run", 0o3770)] {
            #expect(chmod(path, mode_t(mode)) == 0)
        }
        #expect(chown(home.secretKeyPath(of: "wallet-vault"), 61_000, 61_000) == 0)
        let peer = "\(home.peersPath)/wallet-vault.key"
        unlink(peer)
        #expect(try make() == [peer])
        #expect(try CertificateFile.readPublic(peer).key == key)
        // The control: what others may read is refused as before.
        chmod("\(home.path)/run", 0o3775)
        #expect(failure { () throws(CommandFailure) in _ = try make() } != nil)
    }

    @Test func anEntryThatAllowsLessStaysAsItIs() throws {
        _ = try make()
        let peers = PeerFolder(path: home.peersPath)
        let key = try CertificateFile.readPublic(home.publicKeyPath(of: "coffer")).key
        try peers.remove("coffer")
        try peers.add(
            PeerEntry(name: "coffer", key: key, role: .app, owners: .some([]), mayDestroy: false))
        #expect(try make() == [])
        #expect(try peers.list().entries.first { $0.name == "coffer" }?.mayDestroy == false)
    }

    @Test func aLooseFolderIsRefusedWithPathAndMode() throws {
        _ = try make()
        chmod(home.keysPath, 0o755)
        let failed = failure { () throws(CommandFailure) in _ = try make() }
        #expect(failed?.code == "coffer.installation")
        #expect(failed?.refusal.message.contains("\(home.keysPath) has mode 0755") == true)
        #expect(failed?.refusal.message.contains("0700") == true)
    }

    @Test func aSocketPathThatIsTooLongIsToldAtOnceAndMended() throws {
        let long = Home(path: folder.path(of: String(repeating: "x", count: 100)))
        var maker = InstallationMaker(home: long)
        let failed = failure { () throws(CommandFailure) in try maker.make(runPath: nil) }
        #expect(failed?.refusal.message.contains("at most 107") == true)
        unlink(long.settingsPath)
        var other = InstallationMaker(home: long)
        try other.make(runPath: folder.path(of: "run"))
        #expect(try Settings.read(of: long).runPath == folder.path(of: "run"))
        #expect(mode(folder.path(of: "run")) == 0o700)
    }

    @Test func aHomeWithoutAnInstallationSaysHowToMakeOne() {
        let failed = failure { () throws(CommandFailure) in
            _ = try ClientInstallation(home: home)
        }
        #expect(failed?.code == "coffer.no_installation")
        #expect(failed?.refusal.message.contains("deploy/launch up") == true)
    }

    @Test func aKeyPairIsMadeForANewPeerAndNothingOverwritten() throws {
        let made = try KeyPairFiles.make(name: "app", in: folder.path)
        let path = try #require(made.secretPath)
        #expect(mode(path) == 0o600)
        #expect(try CertificateFile.readSecret(path).publicKey == made.key)
        #expect(throws: CertificateError.self) {
            try KeyPairFiles.make(name: "app", in: folder.path)
        }
        #expect(try CertificateFile.readSecret(path).publicKey == made.key)
    }

    @Test func nobodyListensOnAFileThatIsNotThere() {
        #expect(!SocketFile.takesConnections(folder.path(of: "none.sock")))
        #expect(!SocketFile.takesConnections(String(repeating: "x", count: 200)))
    }
}
