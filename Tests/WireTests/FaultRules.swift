import Testing
import Wire

@Suite struct FaultRules {
    static let catalogue = BusFault.catalogue + SessionFault.catalogue + StorageFault.catalogue

    @Test func everyCodeIsThereOnceAndWellFormedOnTheWire() throws {
        #expect(Set(Self.catalogue.map(\.code)).count == Self.catalogue.count)
        for fault in Self.catalogue {
            let refusal = Refusal(code: fault.code, message: fault.meaning, outcome: fault.outcome)
            #expect(try Refusal(decoding: refusal.encoded()) == refusal)
        }
    }

    @Test func everyMeaningIsASentenceOfUsefulLength() {
        for fault in Self.catalogue {
            #expect(fault.meaning.hasSuffix("."), "\(fault.code)")
            #expect((30...300).contains(fault.meaning.count), "\(fault.code)")
        }
    }

    @Test func aFaultIsRefusedWithItsCodeOutcomeAndWait() {
        #expect(BusFault.busy.refusal.code == "bus.busy")
        #expect(BusFault.busy.refusal.outcome == .rejected)
        #expect(BusFault.busy.refusal.retryAfterMilliseconds == 100)
        #expect(SessionFault.ended.refusal.retryAfterMilliseconds == nil)
        #expect(StorageFault.failed.refusal.outcome == .unknown)
        #expect(StorageFault.residue.refusal.outcome == .unknown)
        #expect(StorageFault.full.refusal.outcome == .rejected)
        #expect(BusFault.expired.refusal.outcome == .unknown)
    }

    @Test func aRefusalReadsBackAsItself() throws {
        let refusal = Refusal(
            code: "vault.envelope_damaged", message: "Put the \"backup\" back.", outcome: .unknown,
            retryAfterMilliseconds: 60_000)
        #expect(try Refusal(decoding: refusal.encoded()) == refusal)
        #expect(
            String(decoding: refusal.encoded(), as: UTF8.self)
                == #"{"code":"vault.envelope_damaged","message":"Put the \"backup\" back.","#
                + #""outcome":"unknown","retry_after_ms":60000}"#)
    }

    @Test(arguments: [
        "", "bus", "bus.", ".busy", "bus.busy.more", "Bus.busy", "bus.bu sy", "bus.é",
        "bus." + String(repeating: "x", count: 61),
    ])
    func aCodeThatIsNotInTheFormIsRefused(_ code: String) {
        let bytes = Refusal(code: code, message: "", outcome: .rejected).encoded()
        #expect(throws: JSONError.invalid("code")) { try Refusal(decoding: bytes) }
    }

    @Test func aVeryLongMessageIsRefused() {
        let message = String(repeating: "x", count: Refusal.messageLimit + 1)
        let bytes = Refusal(code: "a.b", message: message, outcome: .rejected).encoded()
        #expect(throws: JSONError.invalid("message")) { try Refusal(decoding: bytes) }
    }

    @Test func theDescriptionIsCodeAndOutcomeOnly() {
        let refusal = Refusal(code: "a.b", message: "abandon abandon", outcome: .unknown)
        #expect(refusal.description == "a.b (unknown)")
        #expect("\(refusal)" == "a.b (unknown)")
    }
}
