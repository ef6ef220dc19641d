import Accounts
import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// Every audit event has a sentence for people.
struct EventSentenceTests {
    /// The events that are written: by the statements that insert them, by binds of these, and by `AuditTrail`.
    private static func written() throws -> Set<String> {
        let statements = try StorageStatement.all().filter { $0.sql.contains("INSERT INTO audit_events") }
        let inserted = statements.map { $0.sql.replacing(/kind (NOT )?IN \([^)]*\)/, with: "") }
            .flatMap { $0.matches(of: /'([a-z\-]+\.[a-z\-]+)'/).map { String($0.output.1) } }
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Storage").standardizedFileURL
        let sources = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
        let bound = sources.filter { $0.contains("INSERT INTO audit_events") }
            .flatMap { $0.matches(of: /"([a-z\-]+\.[a-z\-]+)"/).map { String($0.output.1) } }
        return Set(inserted + bound + AuditEntry.Event.allCases.map(\.rawValue))
    }

    @Test func `each event that is written has a sentence`() throws {
        let written = try Self.written()
        #expect(written.count >= 50 && written.isSuperset(of: ["account.created", "identity.locked", "device.denied"]))
        #expect(written.subtracting(EventSentences.table.keys).sorted() == [])
        #expect(Set(EventSentences.table.keys).subtracting(written).sorted() == [], "sentences of no event")
    }

    @Test func `each rule, cause and reason that decides on an event has a sentence of its own`() {
        func expect(_ event: String, _ names: [String], sourceLocation: SourceLocation = #_sourceLocation) {
            let special = EventSentences.table[event]?.special ?? [:]
            #expect(Set(names).subtracting(special.keys).sorted() == [], sourceLocation: sourceLocation)
        }
        expect("sign-in.refused", LinkingRule.allCases.map(\.rawValue) + ["password", "code", "codeLimit"])
        let creating: [LinkingRule] = [.identityNew, .addressUnproven, .addressProven, .addressNotJoined]
        expect("account.created", creating.map(\.rawValue))
        let adding: [LinkingRule] = [
            .linkAsked, .guestUpgrade, .addressOwned, .accountRestored, .guestSwitch, .guestMerge,
        ]
        expect("identity.linked", adding.map(\.rawValue))
        expect("account.deleted", DeletionCause.allCases.map(\.rawValue))
        expect("session.ended", Accounts.SessionEnd.allCases.map(\.rawValue))
        for event in ["account.merged", "account.unmerged"] { expect(event, ["survivor", "absorbed"]) }
        expect("account.exported", ["owner", "admin"])
        expect("account.enabled", ["until"])
    }

    @Test func `sentences are whole`() {
        for (event, entry) in EventSentences.table {
            for sentence in [entry.general] + entry.special.values {
                #expect(sentence.hasSuffix(".") && !sentence.hasSuffix(".."), "\(event): \(sentence)")
                let words = sentence.replacing("{provider}", with: "")
                #expect(sentence.first?.isUppercase == true && !words.contains("{"), "\(event): \(sentence)")
            }
        }
    }

    @Test func `a sentence names the rule, the provider and the reason, and no text from outside`() {
        let created = EventSentences.sentence(
            for: "account.created", ["provider": "google", "rule": "address.unproven"])
        #expect(created.hasPrefix("The account was created with google.") && created.contains("without proof"))
        let foreign = EventSentences.sentence(for: "identity.unlinked", ["provider": "<b>\u{202E}x"])
        #expect(foreign == "An identity of a provider was removed.")
        let act: JSONValue = ["actor": ["key": "k"], "reason": ["code": "abuse", "ticket": "T-1"]]
        #expect(
            EventSentences.sentence(for: "account.disabled", act)
                == "An administrator disabled the account. Reason: abuse.")
        let enabled = EventSentences.sentence(for: "account.enabled", ["by": "until"])
        #expect(enabled == "The account was enabled again, because the time of its disabling was over.")
        #expect(EventSentences.sentence(for: "later.event", [:]).contains("no sentence"))
    }
}
