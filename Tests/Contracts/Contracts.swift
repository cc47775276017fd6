import AuthorityMessages
import LimiterMessages
import MigrationMessages
import SharesMessages
import VaultMessages
public import Wire

/// Every request that a service answers.
public enum Contracts {
    public static let own: [any Request.Type] = [
        DrawChallenge.self, Enrol.self, Begin.self, Confirm.self, Prove.self, Forget.self,
        AskStanding.self, RepairAttempts.self,
        AskStatus.self, Verify.self, SetPasscode.self, Lock.self, Revoke.self, AskSignPolicy.self,
        SetSignPolicy.self, RepairOwnerAttempts.self, AskTokenKeys.self, Derive.self,
        CheckSession.self, DisablePasscode.self, SetProtection.self, OpenSession.self,
        Unlock.self, BeginRemoval.self, BeginFreshReset.self, FinishRemoval.self, CheckRemoval.self,
        OpenDeviceSession.self, AskDeviceKey.self, EnrolDeviceKey.self, RemoveDeviceKey.self,
        ReportWiped.self, ImportCredential.self, Renew.self, AwaitUnlocked.self,
        ListSessions.self,
        EndSession.self,
        CreateWallet.self, ImportWallet.self, ListWallets.self, FindWallet.self, CheckWallet.self,
        RevealWallet.self, SignWithWallet.self, RemoveWallet.self, AskWhetherEmpty.self,
        AddHolder.self, RemoveHolder.self, ListHolders.self, SplitWallet.self, ConfirmSplit.self,
        ListSplits.self, BeginRestoration.self, ListRestorations.self, AbandonRestoration.self,
        RestoreWallet.self,
        PlanMigration.self, AskLaunchState.self, ApplyMigration.self, VerifyMigration.self,
        FollowRun.self, StopRun.self, AskMigrationStatus.self, SetSourceAside.self,
    ]
    /// Those that every service answers under its own name; any one stands for all.
    public static let common: [any Request.Type] = [
        Health<Vault>.self, Metrics<Vault>.self, ListOwners<Vault>.self, AskOutcome<Vault>.self,
        WipeOwner<Vault>.self,
    ]
}
