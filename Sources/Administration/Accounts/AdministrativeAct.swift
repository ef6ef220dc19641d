package import ProviderKit

/// Who acts on another person's account, and why; the audit records both.
package struct AdministrativeAct: Sendable, Equatable {
    package enum Actor: Sendable, Equatable {
        /// An administrator's account, by its pseudonym in the audit.
        case account(pseudonym: String)
        /// A service key, by its id.
        case key(String)
        /// The person who runs a command, by the name of the host.
        case command(host: String)
    }

    /// The reason, which names no person.
    package struct Reason: Sendable, Equatable {
        package enum Code: String, Sendable, CaseIterable {
            case personAsked = "person-asked"
            case support, fraud, abuse, legal, error, operations, test
        }

        package let code: Code
        /// The number of a ticket in another system.
        package let ticket: String?

        package init(_ code: Code, ticket: String? = nil) { (self.code, self.ticket) = (code, ticket) }
    }

    package let actor: Actor
    /// `nil` for a command.
    package let reason: Reason?
    /// What the administrator wrote about the account; stored with it as a note, and never in the audit.
    package let note: String?

    package init(by actor: Actor, because reason: Reason? = nil, note: String? = nil) {
        (self.actor, self.reason, self.note) = (actor, reason, note)
    }

    /// The members `actor` and `reason` of the event's details.
    package var details: [String: JSONValue] {
        var details: [String: JSONValue] = ["actor": actor.details]
        if let reason {
            var members: [String: JSONValue] = ["code": .string(reason.code.rawValue)]
            members["ticket"] = reason.ticket.map { .string($0) }
            details["reason"] = .object(members)
        }
        return details
    }

    /// The details of the act's event, with further members.
    package func details(adding further: [String: JSONValue]) -> [String: JSONValue] { details.merging(further) { $1 } }
}

extension AdministrativeAct.Actor {
    /// The kind of actor and its id, as in `key abcd`.
    package var name: String {
        switch self {
        case .account(let pseudonym): "account \(pseudonym)"
        case .key(let id): "key \(id)"
        case .command(let host): "cli \(host)"
        }
    }

    /// One member, named by the kind of actor.
    package var details: JSONValue {
        switch self {
        case .account(let pseudonym): ["account": .string(pseudonym)]
        case .key(let id): ["key": .string(id)]
        case .command(let host): ["cli": .string(host)]
        }
    }
}
