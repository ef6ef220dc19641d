internal import Accounts
internal import Foundation
internal import HTTPAPI
internal import ProviderKit

/// An event as `gatehouse audit export` prints it.
struct AuditLine: Encodable {
    let application: String
    let id: String
    let at: Timestamp
    let event: String
    /// The account's pseudonym, the same in all its events.
    let account: String?
    /// The session's pseudonym: `auditSession` in the account's export.
    let session: String?
    let details: JSONValue

    init(_ event: AuditEvent, application: String) throws {
        self.application = application
        id = event.id.text
        at = Timestamp(event.date)
        self.event = event.event
        account = event.account?.hex
        session = event.session?.text
        details = try JSONDecoder().decode(JSONValue.self, from: Data(event.details.utf8))
    }
}
