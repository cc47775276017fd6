internal import BackupShares
internal import Secrets
internal import SharesMessages
internal import Wire

/// One of the three files of a restoration, as far as it can be judged by itself.
struct ReadShare: Sendable {
    /// What a share belongs to; shares are combined only within one.
    enum Origin: Hashable, Sendable {
        /// A split of Coffer's, by its name.
        case split([UInt8])
        /// The envelope of another program, which says nothing.
        case bare
        /// The wrapped envelope of another program, by the number of its set.
        case wrapped(set: UInt32)
    }

    /// Nil where the file says nothing that can be believed.
    var origin: Origin?
    /// What a share file says of its split, where its code is right.
    var facts: ShareFacts?
    /// Which of the three it says that it is, from 0.
    var place: Int?
    /// Whose share it says that it is.
    var holder: HolderName?
    /// What is wrong with it whatever the others are.
    var problem: ShareProblem?
    /// Where nothing is.
    var payload: SharedSecret?

    init(
        origin: Origin? = nil, facts: ShareFacts? = nil, place: Int? = nil,
        holder: HolderName? = nil, problem: ShareProblem? = nil, payload: SharedSecret? = nil
    ) {
        self.origin = origin
        self.facts = facts
        self.place = place
        self.holder = holder
        self.problem = problem
        self.payload = payload
    }
}

extension ReadShare {
    /// Reads a file, and opens it with the private key of the restoration that it should be
    /// released for.
    ///
    /// Throws `bus.internal` where the cryptographic library fails.
    init(
        _ file: SharedSecret, restoration: RestorationID, privateKey: borrowing SecretBytes
    ) throws(BusFault) {
        // Whatever a file holds is sealed or public.
        let bytes = file.bytes.withBytes { Array($0) }
        switch try? ReceivedShare(bytes) {
        case .file(let share):
            try self.init(share, restoration: restoration, privateKey: privateKey)
        case .foreign(let received): try self.init(received, privateKey: privateKey)
        case nil: self.init(problem: .damaged)
        }
    }

    private init(
        _ file: ShareFile, restoration: RestorationID, privateKey: borrowing SecretBytes
    ) throws(BusFault) {
        self.init(
            origin: .split(file.split.id), place: file.index, holder: HolderName(file.holder))
        guard let released = file.restoration else {
            problem = .sealed
            return
        }
        guard released == restoration.bytes else {
            problem = .otherRestoration
            return
        }
        do throws(ShareFileError) {
            payload = try file.releasedPayload(
                privateKey: privateKey, restoration: restoration.bytes)
            facts = file.split
        } catch .wrong {
            problem = .wrong
        } catch .failed {
            throw .internalError
        } catch {
            // Not even what it says of itself can be believed, but for whom to ask.
            origin = nil
            place = nil
            problem = .damaged
        }
    }

    private init(
        _ received: ReceivedEnvelope, privateKey: borrowing SecretBytes
    ) throws(BusFault) {
        do throws(ShareError) {
            self.init(
                origin: received.place.map { .wrapped(set: $0.setID) } ?? .bare,
                place: received.place?.index,
                payload: SharedSecret(try received.envelope.open(privateKey: privateKey)))
        } catch {
            guard error != .failed else { throw .internalError }
            self.init(problem: .damaged)
        }
    }
}
