internal import Accounts
package import Administration
internal import Foundation
package import ProviderKit

extension ListedSigningKey: ResponsePayload, NamedList {
    static let listName = "AdminKeyList"

    package static let fields = ResponseFields<Self>("AdminKey") {
        Field("kid", \.kid)
        Field("purpose", as: .choice(of: SigningPurpose.self), \.purpose.rawValue)
        Field("algorithm", \.algorithm)
        Field("bits", orNull: { $0.bits > 0 ? $0.bits : nil })
        Field("state", as: .choice(of: State.self), \.state.rawValue)
        Field("createdAt", \.createdAt)
        // When it stopped signing.
        Field("retiredAt", orNull: \.retiredAt)
        // Until when its tokens are accepted.
        Field("publishedUntil", orNull: \.publishedUntil)
    }
}

struct RetirementBody: RequestPayload {
    /// Whether to say what would happen, and to change nothing.
    let dryRun: Bool?
    let confirm: String?
    /// Absent in a dry run.
    let reason: ReasonBody?

    static let fields = RequestFields(Self.init, .init("dryRun"), .init("confirm"), .init("reason"))
}

/// A retired key, or what retiring it would do.
struct Retirement: ResponsePayload {
    let key: ListedSigningKey
    let isDryRun: Bool

    static let fields = ResponseFields<Self>("AdminKeyRetirement") {
        Field(flattening: \.key)
        Field("dryRun", \.isDryRun)
        // Whether a new key would sign from now on, as the key signs now.
        Field("replaces", ifAny: { $0.isDryRun ? $0.key.state == .signing : nil })
        // Whether tokens would be refused that are accepted now.
        Field("refuses", ifAny: { $0.isDryRun ? $0.key.state != .retired : nil })
        Field("confirm", ifAny: { $0.isDryRun ? "retire \($0.key.kid)" : nil })
    }
}

/// The person or client whose locks are meant: one of the fields.
struct SubjectBody: RequestPayload {
    let email: String?
    let phone: String?
    let address: String?

    static let fields = RequestFields(
        Self.init, .init("email", .email), .init("phone", .phone), .init("address"))

    /// - Throws: `AccountsError.missingParameter` and `.invalidParameter`.
    var subject: LimitedSubject {
        get throws {
            let named = [email, phone, address].compactMap(\.self)
            guard let text = named.first else { throw AccountsError.missingParameter("email, phone or address") }
            guard named.count == 1 else {
                throw AccountsError.invalidParameter(
                    "email", reason: "stands beside phone or address; name one of them")
            }
            if email != nil {
                guard let address = EmailAddress(text) else {
                    throw AccountsError.invalidParameter("email", reason: "must be an e-mail address")
                }
                return .address(.email(address))
            }
            if phone != nil {
                guard let number = PhoneNumber(text) else {
                    throw AccountsError.invalidParameter("phone", reason: "must be a number in international form")
                }
                return .address(.phone(number))
            }
            guard let address = IPAddress(text) else {
                throw AccountsError.invalidParameter("address", reason: "must be an IP address")
            }
            return .client(address.description)
        }
    }
}

extension SubjectLock: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminLock") {
        Field("kind", as: .choice(of: Kind.self), \.kind.rawValue)
        Field("name", \.name)
        Field("until", \.until)
    }
}

struct LockList: ResponsePayload {
    let locks: [SubjectLock]

    static let fields = ResponseFields<Self>("AdminLockList") { Field("locks", \.locks) }
}

/// The locks that were lifted; none are left.
struct LiftedLocks: ResponsePayload {
    let lifted: [SubjectLock]

    static let fields = ResponseFields<Self>("AdminLiftedLocks") {
        Field("locks") { _ in [SubjectLock]() }
        Field("lifted", \.lifted)
    }
}

extension ListedAuditEvent: ResponsePayload, NamedList {
    static let listName = "AdminAuditList"

    package static let fields = ResponseFields<Self>("AdminAuditEvent") {
        Field("id", \.event.id)
        Field("at", \.event.date)
        Field("event", \.event.event)
        // The uid while the account exists, its pseudonym afterwards.
        Field("account", orNull: { $0.uid?.text ?? $0.event.account?.hex })
        Field("uid", orNull: \.uid)
        Field("session", orNull: \.event.session)
        // The `key`, `cli` or `account` that acted; absent if no administrator did.
        Field("actor", as: .any) { $0.details["actor"] }
        Field("details", as: .dictionary(of: .any), \.details)
    }
}

extension AuditState: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminAuditState") {
        // The time of the newest event of the last batch.
        Field("sealedUpTo", orNull: { $0.last.map { Date(microseconds: $0.lastAt) } })
        Field("sealedAt", orNull: { $0.last?.sealedAt.map { Date(microseconds: $0) } })
        Field("batch", orNull: \.last?.seq)
        // What `gatehouse audit verify --checkpoint` takes.
        Field("checkpoint", orNull: { $0.last?.checkpoint.description })
        Field("unsealed", \.unsealed)
        // The age of the oldest event without a seal, in seconds.
        Field("oldestUnsealed") { Int($0.oldest.components.seconds) }
        Field("retentionDays") { _ in Int(AuditRetention.events.components.seconds / 86_400) }
    }
}

extension Date {
    fileprivate init(microseconds: Int) { self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
}

extension AuditEvent {
    /// The event as a line of an export; the account and the session are pseudonyms.
    package func exported(of application: String) throws -> JSONValue {
        var members: [String: JSONValue] = [
            "application": .string(application), "id": .string(id.text), "at": .string(Timestamp(date).text),
            "event": .string(event), "details": try JSONValue(jsonText: details),
        ]
        members["account"] = account.map { .string($0.hex) }
        members["session"] = session.map { .string($0.text) }
        return .object(members)
    }
}

extension ConfigurationValue: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminConfigurationValue") {
        Field("key", \.key)
        // `set` for secrets.
        Field("value", as: .any, \.value)
        // `file:LINE`, `default` or `environment`.
        Field("source") { value in
            switch value.source {
            case .file(let line): line.map { "file:\($0)" } ?? "file"
            case .standard: "default"
            case .environment: "environment"
            }
        }
    }
}

extension RefusedConfiguration.Problem: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminConfigurationProblem") {
        Field("line", orNull: \.line)
        Field("key", \.key)
        Field("reason", \.reason)
    }
}

extension RefusedConfiguration: ResponsePayload {
    package static let fields = ResponseFields<Self>("AdminRefusedConfiguration") {
        Field("at", \.at)
        Field("problems", \.problems)
    }
}

struct ConfigurationPayload: ResponsePayload {
    let items: [ConfigurationValue]
    let refused: RefusedConfiguration?

    static let fields = ResponseFields<Self>("AdminConfiguration") {
        Field("items", \.items)
        Field("refused", orNull: \.refused)
    }

    /// Leaves out what concerns other applications than the named one.
    init(_ configuration: any ConfigurationInForce, of application: String) {
        func isShown(_ owner: String?) -> Bool { owner == nil || owner == application }
        items = configuration.values.filter { isShown($0.application) }
        refused = configuration.refused.map { refused in
            RefusedConfiguration(at: refused.at, problems: refused.problems.filter { isShown($0.application) })
        }
    }
}
