import Accounts
import Foundation
import GatehouseTesting
import Testing

@testable import GatehouseServer

/// The record of processing activities of the sample configuration.
struct PrivacyRecordTests {
    private func record() throws -> String {
        let sample = try ContractSampleTests()
        return PrivacyRecord(configuration: sample.configuration).markdown
    }

    private func expect(_ record: String, has lines: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        let all = Set(record.split(separator: "\n").map(String.init))
        for line in lines { #expect(all.contains(line), "\(line)", sourceLocation: sourceLocation) }
    }

    @Test func `it has the contents that article 30 requires`() throws {
        let headings = try record().split(separator: "\n").filter { $0.hasPrefix("#") }.map(String.init)
        #expect(
            headings == [
                "# Record of processing activities", "## Application demo", "### Purposes",
                "### Categories of data subjects", "### Categories of personal data", "### Recipients",
                "### Transfers to third countries", "### Retention", "## Security measures",
            ])
        #expect(try record().contains("| Controller | <name, address, contact> |"))
    }

    @Test func `data of each enabled provider, and of no other`() throws {
        let record = try record()
        for provider in ["anonymous", "email", "phone", "apple", "google", "corp", "custom"] {
            #expect(record.contains("| provider \(provider) ("), "\(provider)")
        }
        #expect(!record.contains("carrier"))
    }

    @Test func `recipients by host, without secrets`() throws {
        let record = try record()
        expect(
            record,
            has: [
                "| 127.0.0.1 | 127.0.0.1 | uids and events: account.deleted, account.erased, identity.linked |",
                "| e-mail | 127.0.0.1 | e-mail addresses, and the mails to them |",
                "| text messages | 127.0.0.1 | phone numbers, and the text messages to them |",
                "| google | accounts.google.com | that the person signs in here; it provides the data above |",
                "| corp | corp.example | that the person signs in here; it provides the data above |",
                "| apple | appleid.apple.com | that the person signs in here; it provides the data above |",
            ])
        #expect(!record.contains("whsec_") && !record.contains("PRIVATE KEY") && !record.contains(Fixture.masterKey))
    }

    @Test func `retention as it is configured`() throws {
        expect(
            try record(),
            has: [
                "| accounts | until their deletion, which can be undone for 30d |",
                "| anonymous accounts | 30d after their last use |",
                "| erasure | waits for webhooks at most 3d; uid, times, receipt and certificate stay |",
                "| sessions | 365d at most, 30d without use |", "| audit | 400d |",
            ])
    }

    @Test func `sessions of dialects last as long as these allow`() throws {
        let yaml = Fixture.application("dialects: { immich: { session: { idle: 60d, lifetime: 300d } } }")
        let record = PrivacyRecord(configuration: try Fixture.parse(yaml)).markdown
        expect(
            record,
            has: [
                "| sessions of immich, with a keyed hash of device and program | 300d at most, 60d without use |"
            ])
    }

    @Test func `the command needs no database`() async throws {
        try await ProcessDirectory.with { directory in
            let outcome = try await ServerFile(database: "postgresql://127.0.0.1:1/nowhere").run(
                ["privacy-record"], in: directory)
            #expect(outcome.status == 0, "\(outcome.errorLines)")
            #expect(outcome.output.hasPrefix("# Record of processing activities\n"))
        }
    }
}
