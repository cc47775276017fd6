internal import AuthorityMessages
internal import Serving
internal import Wire

extension AuthorityService {
    func signPolicy(_ call: Call<AskSignPolicy>) throws -> Answer<AskSignPolicy> {
        Answer(SignPolicyReply(policy: try store.signPolicy(of: call.owner)))
    }

    /// Sets what a signature needs; a stricter rule is answered when no lease of the looser one is
    /// left.
    func setSignPolicy(_ call: Call<SetSignPolicy>) async throws -> Answer<SetSignPolicy> {
        let session = try ownSession(of: call)
        guard SessionRules.mayChangeSettings(session.claims) else {
            throw CredentialFault.notAuthorised
        }
        let policy = call.request.policy
        let answer = try group.change(call) {
            try store.setSignPolicy(policy, of: call.owner)
            return SignPolicyReply(policy: policy)
        }
        if policy == .proof {
            try await group.committed()
            await wait(until: registry.leasesClosed(of: call.owner))
        }
        return answer
    }
}
