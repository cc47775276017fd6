/// Everything that the command can do, in the order of the help.
enum VerbTable {
    static let verbs: [Verb] =
        [.status]
        + [.passcodeSet, .passcodeChange, .passcodeDisable, .passcodeImport, .passcodeStatus]
        + [.protectionOn, .protectionOff]
        + [.deviceKeyEnroll, .deviceKeyRemove, .deviceKeyStatus]
        + [.unlock, .lock, .sessionList, .sessionRevoke]
        + [
            .walletCreate, .walletImport, .walletList, .walletCheck, .walletReveal, .walletSign,
            .walletRemove,
        ]
        + [
            .backupSplit, .backupList, .backupRequest, .backupRequests, .backupCancel,
            .backupRestore,
        ]
        + [.holderKeygen, .holderList, .holderAdd, .holderRemove, .holderRelease]
        + [
            .migratePlan, .migrateApply, .migrateVerify, .migrateSetAside, .migrateStatus,
            .migrateStop,
        ]
        + [.signPolicyShow, .signPolicyProof, .signPolicySession]
        + [.attemptsRepair]
        + [.ownerList, .ownerReset, .ownerRemove, .ownerPurge]
        + [.stateExport, .stateImport]
        + [.peerAdd, .peerList, .peerRemove]
        + [.metrics, .probe, .outcome]
        + [.initialise, .version, .help]
}
