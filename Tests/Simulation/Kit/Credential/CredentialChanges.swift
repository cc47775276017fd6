import AuthorityMessages
import Loop
import Secrets
import Serving
import TestKit
import Tokens
import Wire

/// The changes of a credential: each is believed to be possible from its beginning, and is known
/// from what is told of it.
extension CredentialDevice {
    private func mutate<R: Request>(
        _ request: R, _ deed: Deed, token: [UInt8] = [], attachments: [SharedSecret] = [],
        _ effect: @escaping CredentialBeliefs.Effect
    ) async {
        keeper.use()
        let number = keeper.beliefs.begin(effect)
        machine.beginMutation()
        await change(request, authority, token: token, attachments: attachments) {
            [keeper, machine] made, _ in
            guard let made else { return }
            if made { machine.deeds[deed] += 1 }
            if !keeper.beliefs.end(number, made: made) {
                machine.promises.fail(
                    "\(R.method) was told to be \(made ? "made" : "refused") and cannot have been")
            }
        }
        machine.endMutation()
    }

    // MARK: The passcode

    func setFirstPasscode() async { await setPasscode(token: []) }

    func changePasscode() async {
        let token =
            choices.chance(percent: 50)
            ? await settingsToken() : await verify(.managePasscode)
        guard let token else { return }
        await setPasscode(token: token)
    }

    private func setPasscode(token: [UInt8]) async {
        let code = keeper.newCode()
        machine.promises.expect(code, of: owner)
        await mutate(
            SetPasscode(passcodeKind: .alphanumeric), .passcode, token: token,
            attachments: [secret(code)]
        ) { state in
            var state = state
            guard state.passcode == nil || !token.isEmpty else { return nil }
            // The first one protects.
            if state.passcode == nil { state.protection = true }
            state.passcode = code
            state.isBlank = false
            return state
        }
    }

    func disablePasscode() async {
        guard let token = await settingsToken() else { return }
        await mutate(DisablePasscode(), .disabling, token: token) { state in
            guard state.passcode != nil else { return nil }
            return CredentialState(key: state.key)
        }
    }

    func setProtection() async {
        guard let token = await settingsToken() else { return }
        let isOn = choices.pick(keeper.beliefs.states)?.protection == false
        await mutate(SetProtection(protection: isOn), .protection, token: token) { state in
            guard state.passcode != nil else { return nil }
            var state = state
            state.protection = isOn
            if !isOn { state.route = nil }
            return state
        }
    }

    func importCredential() async {
        let (foreign, key) = keeper.foreign
        // One that breaks off may have left a record with its key and without a passcode.
        keeper.beliefs.consider { state in
            state.isBlank && state.passcode == nil ? CredentialState(key: key) : nil
        }
        machine.promises.expect(foreign.code, of: owner)
        await mutate(
            ImportCredential(), .imported,
            attachments: [foreign.document, foreign.deviceSecret, secret(foreign.code)]
        ) { state in
            guard state.passcode == nil, state.isBlank || state.key == key else { return nil }
            return CredentialState(
                passcode: foreign.code, protection: foreign.protection, key: key)
        }
    }

    // MARK: Tokens

    func enrol() async {
        guard let token = await settingsToken(), let uri = choices.pick(SimulatedTokens.uris)
        else { return }
        let form = choices.pick([nil, DeviceKeyForm.data, .ecdh, .rsa]) ?? nil
        await mutate(
            EnrolDeviceKey(token: uri, form: form), .enrolment, token: token,
            attachments: [secret(machine.tokens.pin(of: uri))]
        ) { state in
            guard state.passcode != nil, state.protection else { return nil }
            var state = state
            state.route = uri
            return state
        }
    }

    func removeDeviceKey() async {
        guard let token = await settingsToken() else { return }
        let isLost = choices.chance(percent: 15)
        if isLost { machine.tokens.giveUp() }
        let uri = choices.pick(keeper.beliefs.states.compactMap(\.route)) ?? ""
        let pin = choices.chance(percent: 20) ? [] : [secret(machine.tokens.pin(of: uri))]
        await mutate(
            RemoveDeviceKey(lost: isLost), .routeRemoval, token: token, attachments: pin
        ) { state in
            guard state.passcode != nil else { return nil }
            var state = state
            state.route = nil
            return state
        }
    }
}
