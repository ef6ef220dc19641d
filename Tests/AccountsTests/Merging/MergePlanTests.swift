import Accounts
import Foundation
import ProviderKit
import Testing

/// Tests the merge plans for every combination of two accounts.
struct MergePlanTests {
    static let early = Date(timeIntervalSince1970: 1_700_000_000)
    static let late = early + 1
    /// Ids that are sorted by their text.
    static let uids = [
        "01890000-0000-7000-8000-000000000001", "01890000-0000-7000-8000-000000000002",
    ].compactMap(UUID.init(uuidString:))

    enum Kind: CaseIterable { case permanent, guest, formerGuest }

    /// Age, kind and the caller's choice determine the survivor.
    @Test(arguments: Kind.allCases, Kind.allCases)
    func `the older permanent account survives by default`(_ one: Kind, _ other: Kind) {
        for (created, otherCreated) in [(Self.early, Self.late), (Self.late, Self.early), (Self.early, Self.early)] {
            let first = Self.side(Self.uids[0], one, createdAt: created)
            let second = Self.side(Self.uids[1], other, createdAt: otherCreated)
            let expected =
                switch (one == .guest, other == .guest) {
                case (true, false): second.uid
                case (false, true): first.uid
                // For accounts that were created at the same instant, the choice is always the same.
                case (false, false), (true, true): otherCreated < created ? second.uid : first.uid
                }
            for plan in [MergePlan(first, second), MergePlan(second, first)] {
                #expect(plan.survivor == expected, "\(one) \(created), \(other) \(otherCreated)")
                #expect(Set([plan.survivor, plan.absorbed]) == Set(Self.uids))
            }
            for wish in Self.uids {
                let plans = [MergePlan(first, second, survivor: wish), MergePlan(second, first, survivor: wish)]
                #expect(plans.allSatisfy { $0.survivor == wish && $0.absorbed != wish })
                #expect(plans[0].identities == plans[1].identities && plans[0].guests == plans[1].guests)
                let all = (first.identities + second.identities).filter { !$0.isGuest }.map(\.id)
                for plan in plans {
                    #expect(Set(plan.newlyLinked) == (one == .guest || other == .guest ? [] : Set(all)))
                }
            }
        }
    }

    /// A guest's identities do not move, and an account with any other identity keeps no guest identity.
    @Test(arguments: Kind.allCases, Kind.allCases)
    func `identities of guests are left behind`(_ survivor: Kind, _ absorbed: Kind) {
        let (stays, goes) = (Self.side(Self.uids[0], survivor), Self.side(Self.uids[1], absorbed))
        let plan = MergePlan(stays, goes, survivor: stays.uid)
        #expect(plan.identities == goes.identities.filter { !$0.isGuest })
        let outcome = Set(stays.identities.map(\.id)).union(plan.identities.map(\.id))
            .subtracting(plan.guests.map(\.id))
        let all = stays.identities + goes.identities
        let permanent = all.filter { !$0.isGuest }
        let kept = all.filter { outcome.contains($0.id) }
        #expect(permanent.allSatisfy { outcome.contains($0.id) }, "nothing that can sign in is lost")
        if permanent.isEmpty {
            #expect(kept == stays.identities, "two guests stay one guest")
        } else if absorbed != .guest {
            #expect(kept.allSatisfy { !$0.isGuest }, "a guest that gets an identity is none any more")
        }
        #expect(Set(plan.guests.map(\.id)).isDisjoint(with: plan.identities.map(\.id)))
    }

    enum Has: CaseIterable { case nothing, this, that }

    /// The survivor's conflicting fields are reported and kept, missing ones are filled in, and nothing else changes.
    @Test(arguments: Has.allCases, Has.allCases)
    func `the survivor keeps its fields, and missing ones are filled in`(_ own: Has, _ others: Has) {
        var (stays, goes) = (Self.side(Self.uids[0], .permanent), Self.side(Self.uids[1], .permanent))
        (stays.displayName, goes.displayName) = (own.text, others.text)
        (stays.metadata, goes.metadata) = (["kept": 1], ["taken": 2])
        stays.metadata["theme"] = own.text.map { .string($0) }
        goes.metadata["theme"] = others.text.map { .string($0) }
        let plan = MergePlan(stays, goes, survivor: stays.uid)
        let isFilled = own == .nothing
        #expect(plan.displayName == (isFilled ? others.text : nil))
        #expect(plan.metadata["theme"] == (isFilled ? others.text.map { .string($0) } : nil))
        #expect(plan.metadata["taken"] == 2 && plan.metadata["kept"] == nil)
        let collides = own != .nothing && others != .nothing && own != others
        #expect(plan.collisions == (collides ? ["displayName", "metadata.theme"] : []))
    }

    @Test func `a null counts as a value of the survivor`() {
        var (stays, goes) = (Self.side(Self.uids[0], .permanent), Self.side(Self.uids[1], .permanent))
        (stays.metadata, goes.metadata) = (["theme": .null], ["theme": "dark"])
        let plan = MergePlan(stays, goes, survivor: stays.uid)
        #expect(plan.metadata.isEmpty && plan.collisions == ["metadata.theme"])
    }

    /// Otherwise merges of guests would let metadata grow without limit.
    @Test func `metadata that both together would be too large stays with the absorbed account`() {
        var (stays, goes) = (Self.side(Self.uids[0], .permanent), Self.side(Self.uids[1], .guest))
        let half = JSONValue.string(String(repeating: "x", count: Profile.largestMetadata / 2))
        (stays.metadata, goes.metadata) = (["kept": half], ["taken": half, "small": 1, "kept": half])
        let plan = MergePlan(stays, goes, survivor: stays.uid)
        #expect(plan.metadata.isEmpty && plan.collisions == ["metadata.small", "metadata.taken"])
    }

    @Test func `addresses move, and sessions end`() throws {
        let address = try #require(EmailAddress("ada@example.com"))
        var (stays, goes) = (Self.side(Self.uids[0], .permanent), Self.side(Self.uids[1], .permanent))
        (stays.sessions, goes.sessions) = (3, 2)
        goes.addresses = [.email(address)]
        let plan = MergePlan(stays, goes, survivor: stays.uid)
        #expect(plan.addresses == [.email(address)] && plan.endedSessions == 2)
    }

    private static func side(_ uid: UUID, _ kind: Kind, createdAt: Date = early) -> MergeSide {
        let identities: [Identity] =
            switch kind {
            case .permanent: [identity(isGuest: false), identity(isGuest: false)]
            case .guest: [identity(isGuest: true)]
            // The state after a merge of two guests.
            case .formerGuest: [identity(isGuest: true), identity(isGuest: false)]
            }
        return MergeSide(
            uid: uid, createdAt: createdAt, displayName: nil, metadata: [:], identities: identities, addresses: [],
            sessions: 1)
    }

    private static func identity(isGuest: Bool) -> Identity {
        let id = UUID()
        return Identity(
            id: id, provider: isGuest ? "anonymous" : "scripted", providerUid: id.uuidString, isGuest: isGuest,
            createdAt: early)
    }
}

extension MergePlanTests.Has {
    fileprivate var text: String? {
        switch self {
        case .nothing: nil
        case .this: "light"
        case .that: "dark"
        }
    }
}
