import AuthorityMessages
import Loop
import Secrets
import Serving
import TestKit
import Tokens
import Wire

/// What a device does with its owner's hardware token, and how it judges what it is told.
extension Device {
    /// Half seconds, in which a slow token is done with whoever asked it before.
    private static let tokenRounds = 80

    func workOnToken() async {
        let route = person.route
        if route.possible.contains(true), choices.chance(percent: 70) {
            if choices.chance(percent: 20) { return await removeDeviceKey() }
            _ = await tokenSession(.resource(person.namespace), [.walletVault])
        } else {
            await enrol()
        }
    }

    private func enrol() async {
        let route = person.route
        guard let token = await session(.settings, []), !route.isChanging else { return }
        let before = route.possible
        route.beginChange(to: true)
        await change(
            EnrolDeviceKey(token: route.uri), authority, token: token,
            attachments: [secret(machine.tokens.pin(of: route.uri))]
        ) { [machine] made, _ in
            if made == true { machine.deeds[.enrolment] += 1 }
            if let made { route.endChange(to: true, made: made, before: before) }
        }
    }

    private func removeDeviceKey() async {
        let route = person.route
        guard let token = await session(.settings, []), !route.isChanging else { return }
        let before = route.possible
        route.beginChange(to: false)
        await change(
            RemoveDeviceKey(lost: false), authority, token: token,
            attachments: [secret(machine.tokens.pin(of: route.uri))]
        ) { [machine] made, _ in
            if made == true { machine.deeds[.routeRemoval] += 1 }
            if let made { route.endChange(to: false, made: made, before: before) }
        }
    }

    /// A session by the token, which opens what one by the passcode opens.
    func tokenSession(_ scope: Scope, _ audience: [ServiceName]) async -> [UInt8]? {
        let route = person.route
        let (before, version) = (route.possible, route.version)
        let answer: Answer<OpenDeviceSession>
        do throws(Refusal) {
            answer = try await authority.call(
                OpenDeviceSession(scope: scope, audience: audience), options: options(),
                attachments: [secret(machine.tokens.pin(of: route.uri))])
        } catch {
            if before == [true], version == route.version { judge(error, of: route) }
            return nil
        }
        if before == [false], version == route.version {
            machine.promises.fail("a token opened wallets that was told not to be enrolled")
        }
        machine.deeds[.deviceSession] += 1
        return answer.attachments.first?.bytes.withBytes { Array($0) }
    }

    private func judge(_ refusal: Refusal, of route: DeviceRoute) {
        let isCleared = machine.tokens.tokens[route.uri]?.wasCleared ?? true
        let isLost =
            ["device_key.none", "device_key.mismatch"].contains(refusal.code)
            || (refusal.code == "device_key.no_object" && !isCleared)
        if isLost {
            machine.promises.fail("the token that was told to be enrolled: \(refusal.code)")
        }
    }

    // MARK: When all is over

    /// The token opens where it was told to, and nowhere else.
    func auditToken() async {
        let route = person.route
        guard let told = await insist(on: AskDeviceKey(), authority) else { return }
        guard route.possible.contains(told.token != nil) else {
            machine.promises.fail("a token is enrolled otherwise than it was told")
            return
        }
        guard told.token != nil, machine.tokens.tokens[route.uri]?.wasCleared == false else {
            return
        }
        for _ in 0..<Self.tokenRounds {
            let token = await tokenSession(.resource(person.namespace), [.walletVault])
            if let token {
                _ = await allWallets(in: person.namespace, token)
                return
            }
            await machine.timers.sleep(milliseconds: 500)
        }
        machine.promises.fail("the token that is enrolled opens nothing")
    }
}
