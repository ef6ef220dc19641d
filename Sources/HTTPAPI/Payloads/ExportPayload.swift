internal import Accounts
internal import Foundation
package import ProviderKit

/// All data that the server stores about a person.
///
/// `ExportWriter` writes the data section by section, so that the whole document is never in memory.
package enum ExportPayload: DocumentedValue {
    package static var schema: JSONSchema {
        var members = ["exportedAt": Date.schema, "application": .string]
        for section in PersonalDataSection.allCases {
            let row = ExportedRow(section).schema
            members[section.rawValue] = section == .account ? row : .array(of: row)
        }
        members["auditEvents"] = .array(of: ExportedRow.event.schema)
        members["recipients"] = .array(of: ExportedRow.recipient.schema)
        return .object(members, required: Set(members.keys), named: "Export")
    }
}

/// The columns of one kind of row that the export contains.
struct ExportedRow: Sendable {
    private let name: String
    private let columns: [ExportedColumn]

    private init(_ name: String, _ columns: ExportedColumn...) {
        self.name = "Exported\(name)"
        self.columns = columns
    }

    var schema: JSONSchema {
        .object(
            Dictionary(uniqueKeysWithValues: columns.map { ($0.name, $0.schema) }), required: Set(columns.map(\.name)),
            named: name)
    }

    /// The exported row; the keys of `values` are the names of database columns.
    /// - Throws: `UnexpectedColumn`.
    func json(of values: [String: JSONValue]) throws -> JSONValue {
        .object(Dictionary(uniqueKeysWithValues: try columns.map { ($0.name, try $0.value(in: values)) }))
    }
}

// MARK: - Rows

extension ExportedRow {
    init(_ section: PersonalDataSection) {
        switch section {
        case .account, .aliases:
            self.init(
                "Account", .text("uid"), .text("displayName").orNull, .json("metadata"), .texts("roles"),
                .json("claims"), .time("createdAt"), .time("updatedAt"),
                // The preferred languages, in the syntax of `Accept-Language`.
                .text("locale").orNull,
                .time("disabledAt").orNull, .time("disabledUntil").orNull, .time("deletedAt").orNull,
                .time("purgeAfter").orNull)
        case .identities:
            self.init(
                "Identity", .text("id"), .text("provider"), .text("providerUid"), .flag("isGuest"),
                .text("email").orNull, .flag("emailVerified"), .text("phone").orNull, .flag("phoneVerified"),
                .text("displayName").orNull, .json("profile"), .time("createdAt"), .time("lastUsedAt").orNull,
                // When a merge or a new address added the identity to the account, if that was after its creation.
                .time("joinedAt").orNull,
                // When a password reset put the identity into quarantine, in which it opens no session.
                .time("quarantinedAt").orNull)
        case .addresses:
            self.init(
                "Address", .text("kind"), .text("address"), .time("verifiedAt"),
                // Whether the person has switched off mail to this address.
                .flag("isSilent"))
        case .passwords:
            // The row shows only that a password exists; its hash is not exported.
            self.init(
                "Password", .text("identityId"), .flag("mustChange"), .time("changedAt"),
                // The same time, if a mailed link set it.
                .time("resetAt").orNull)
        case .providerTokens:
            // The row shows only that tokens of a provider are stored, for revocation.
            self.init("ProviderToken", .text("identityId"), .text("provider"), .time("updatedAt"))
        case .tokenRevocations:
            self.init(
                "TokenRevocation", .text("identityId"), .text("provider"), .time("createdAt"), .count("attempts"),
                .text("failure").orNull, .time("revokedAt").orNull, .time("failedAt").orNull)
        case .sessions:
            self.init(
                "Session", .text("id"), .text("identityId"),
                // A session of the API, of a browser, or of an OpenID client in a browser session.
                .text("kind"), .text("clientId").orNull,
                // The interface of an existing app through which the session was opened.
                .text("dialect").orNull, .text("parentId").orNull, .texts("methods"), .text("device").orNull,
                .text("address").orNull,
                // The session that this one replaced when the person re-authenticated.
                .text("resumes").orNull,
                // The session that this one replaced after a merge or after a deletion was cancelled.
                .text("continues").orNull,
                // The id of the session in `auditEvents`.
                .text("auditSession"),
                .time("authenticatedAt"), .time("createdAt"), .time("lastSeenAt").orNull, .time("expiresAt"),
                .time("endedAt").orNull, .text("endReason").orNull,
                // The account to which a guest's session moved.
                .text("successorUid").orNull,
                // When a browser or an OpenID client last used it.
                .time("lastUsedAt").orNull,
                // Until when the PIN had unlocked it.
                .time("elevatedUntil").orNull)
        case .pendingRegistrations:
            self.init(
                "Registration", .text("id"), .text("provider"), .text("providerUid"), .text("address"),
                .text("displayName").orNull, .text("onConflict"), .time("createdAt"), .time("expiresAt"))
        case .pendingProofs:
            self.init(
                "Proof", .text("kind"), .text("provider"), .text("providerUid"), .text("address").orNull,
                .text("addressKind"), .texts("methods"), .count("attempts"),
                // The name, roles and claims of the account that an invitation opens.
                .json("invitation").orNull,
                // The role that a link gives an administrator, and the application, or `all`.
                .text("adminRole").orNull, .text("grantedOn").orNull, .time("createdAt"), .time("expiresAt"))
        case .redirectFlows:
            // Sign-ins and links by redirect, stored until a day after they end. The provider's evidence is encrypted
            // until the app redeems its code, and is stored with the identity afterwards.
            self.init(
                "Flow", .text("provider"), .text("redirectUri"),
                // The session whose account the flow links an identity to.
                .text("linkingSession").orNull,
                // The session that the flow opened.
                .text("sessionId").orNull,
                .flag("holdsEvidence"),
                // Whether the provider was requested to authenticate the person again.
                .flag("isFresh"),
                // Whether the app asked for a session that ends with its window.
                .flag("isShort"),
                .time("createdAt"), .time("answeredAt").orNull, .time("redeemedAt").orNull, .time("expiresAt"))
        case .merges:
            self.init(
                "Merge", .text("id"), .text("survivor"), .text("absorbed"), .texts("identities"),
                // Identities of guests that the merge removed from the surviving account.
                .texts("parked"),
                .texts("addressKinds"), .texts("addresses"),
                // Values that the surviving account took from the absorbed account, and when identities of the two had
                // been linked before.
                .json("filled"),
                .time("mergedAt"), .time("undoUntil"), .time("undoneAt").orNull)
        case .erasures:
            self.init(
                "Erasure", .text("receipt"), .time("requestedAt"), .time("purgeAfter"), .time("beganAt").orNull,
                .time("restoredAt").orNull, .time("erasedAt").orNull)
        case .webhookDeliveries:
            self.init(
                "Delivery", .text("eventId"), .text("name"), .text("kind"), .json("details"), .count("attempts"),
                .text("failure").orNull, .time("createdAt"), .time("acknowledgedAt").orNull, .time("failedAt").orNull)
        case .consents:
            // What the person has allowed OpenID clients.
            self.init("Consent", .text("clientId"), .texts("scopes"), .texts("resources"), .time("grantedAt"))
        case .handoffs:
            // Sign-ins of other devices that the person was asked for, stored until an hour after they end.
            self.init(
                "Handoff", .text("kind"), .text("clientId"), .texts("scopes"), .texts("resources"), .text("state"),
                // The session that has looked or answered.
                .text("sessionId"), .time("createdAt"), .time("expiresAt"))
        case .messages:
            // Messages that were sent or are queued, as long as they are kept; their texts are not kept.
            self.init(
                "Message", .text("id"), .text("topic"), .text("channel"), .count("attempts"), .text("failure").orNull,
                .time("createdAt"), .time("sentAt").orNull, .time("failedAt").orNull)
        case .instances:
            // Installations of apps that the person has signed in on.
            self.init(
                "Instance", .text("clientId"), .text("software"), .text("deviceType"), .text("deviceName").orNull,
                .text("sessionId"), .time("createdAt"))
        case .pins:
            // The PIN that unlocks a session; `wrongInAll` counts wrong tries since it was set.
            self.init("Pin", .text("uid"), .count("wrongInAll"), .time("changedAt"))
        case .adminGrants:
            // The roles that the person has as an administrator, each for an application or for all.
            self.init(
                "AdminGrant", .text("role"), .text("grantedOn").orNull,
                // The identities in whose sessions the role counts.
                .texts("identities"), .time("createdAt"))
        case .adminNotes:
            // What administrators wrote about the person; `auditEvents` has what they did and looked at.
            self.init("AdminNote", .text("id"), .text("text"), .json("reason"), .time("createdAt"))
        }
    }

    static let event = ExportedRow(
        "Event", .text("id"), .time("at"), .text("event"), .json("details"),
        // The `auditSession` of a session; in events of early versions the session's own id.
        .text("session").orNull)

    /// Another system that receives personal data according to the current configuration.
    static let recipient = ExportedRow("Recipient", .text("name"), .text("kind"), .texts("hosts"))
}

// MARK: - Columns

/// One column of an exported row.
struct ExportedColumn: Sendable {
    let name: String
    let schema: JSONSchema
    /// The column's name in the database: `provider_uid` for `providerUid`.
    private let column: String
    private var isNullable = false
    private let convert: @Sendable (JSONValue) -> JSONValue?

    private init(_ name: String, _ schema: JSONSchema, _ convert: @escaping @Sendable (JSONValue) -> JSONValue?) {
        self.name = name
        self.schema = schema
        self.convert = convert
        column = name.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }

    static func text(_ name: String) -> Self { Self(name, .string) { $0.string == nil ? nil : $0 } }
    static func flag(_ name: String) -> Self { Self(name, Bool.schema) { $0.bool == nil ? nil : $0 } }
    static func count(_ name: String) -> Self { Self(name, Int.schema) { $0.integer == nil ? nil : $0 } }
    static func json(_ name: String) -> Self { Self(name, .any) { $0 } }

    static func texts(_ name: String) -> Self {
        Self(name, .array(of: .string)) { $0.array?.allSatisfy { $0.string != nil } == true ? $0 : nil }
    }

    static func time(_ name: String) -> Self {
        Self(name, Date.schema) { value in value.string.flatMap { Timestamp($0) }.map { .string($0.text) } }
    }

    /// The same column, which may be `null`.
    var orNull: Self {
        var column = Self(name, schema.nullable, convert)
        column.isNullable = true
        return column
    }

    fileprivate func value(in values: [String: JSONValue]) throws -> JSONValue {
        let value = values[column]
        if isNullable, value?.isNull ?? true { return .null }
        guard let converted = value.flatMap(convert) else { throw UnexpectedColumn(name: column) }
        return converted
    }
}

/// A column is missing or has a type other than the export declares.
struct UnexpectedColumn: Error { let name: String }
