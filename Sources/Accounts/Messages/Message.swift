package import Foundation
package import ProviderKit

/// What a message to a person is about; each has a template in `Delivery`.
package enum MessageTopic: String, Sendable, Codable, CaseIterable {
    case confirmRegistration
    /// Somebody registered with an address that has an account: its owner is told, the registrant is not.
    case registrationOfTakenAddress
    case resetPassword
    case passwordChanged
    /// The mailbox gave the account a new password: the mail names what was linked before, and leads to its review.
    case passwordReset
    /// A one-time code, by mail perhaps with a link that does the same.
    case signInCode
    case accountDeleted
    case accountRestored
    /// The provider told that the person no longer signs in with it.
    case identityRemoved
    /// A new way of signing in joined the account by an address that it proved.
    case identityLinked
    case accountsMerged
    case mergeUndone
    /// An identity has another address; both the old and the new one are told.
    case addressChanged
    /// A code that gives an identity this address.
    case confirmAddress
    /// Somebody who is signed in wants to add the address, with a password, to their account.
    case confirmLink
}

/// How a message reaches a person; each has a lane of its own, so that one that stalls delays no other.
package enum MessageChannel: String, Sendable, Codable, CaseIterable {
    case email, sms
}

/// A message to a person.
///
/// It holds one-time secrets, so that it is sealed wherever it is kept.
package struct Message: Sendable, Codable, Equatable {
    package let id: UUID
    package let topic: MessageTopic
    package let channel: MessageChannel
    /// The stored address or number, never one that was typed; empty where it is for nobody.
    package private(set) var to: String
    /// A one-time code.
    package let code: String?
    package let link: String?
    /// Until when the code or the link works, or the deletion can be undone.
    package let until: Date?
    /// What a button of the provider that it is about says.
    package let provider: String?
    /// Identities by the names that their owner knows.
    package let identities: [String]?
    /// The languages that its reader wants, as `Accept-Language` has them (RFC 9110, 12.5.4), cut short.
    package let locale: String?

    package init(
        _ topic: MessageTopic, to address: EmailAddress, link: String? = nil, until: Date? = nil,
        provider: String? = nil, identities: [String]? = nil, locale: String? = nil
    ) {
        self.init(
            topic: topic, address: .email(address), code: nil, link: link, until: until, provider: provider,
            identities: identities, locale: locale)
    }

    /// With a code, which is all that a text message carries.
    package init(
        _ topic: MessageTopic, to address: Address, code: String, link: String? = nil, until: Date? = nil,
        locale: String? = nil
    ) {
        self.init(
            topic: topic, address: address, code: code, link: link, until: until, provider: nil, locale: locale)
    }

    /// A notice wherever it reaches the person, be it by text.
    package init(
        _ topic: MessageTopic, notifying address: Address, until: Date? = nil, provider: String?, locale: String?
    ) {
        self.init(
            topic: topic, address: address, code: nil, link: nil, until: until, provider: provider, locale: locale)
    }

    private init(
        topic: MessageTopic, address: Address, code: String?, link: String?, until: Date?, provider: String?,
        identities: [String]? = nil, locale: String?
    ) {
        id = .v7()
        self.topic = topic
        channel =
            switch address {
            case .email: .email
            case .phone: .sms
            }
        to = address.value
        self.code = code
        self.link = link
        self.until = until
        self.provider = provider
        self.identities = identities
        self.locale = locale.map { String($0.prefix(200)) }
    }

    /// The same, sent to nobody: writing it costs what writing the other does, so that whoever asked can't tell.
    ///
    /// It names no address, so that a worker of an earlier version, which knows of no such message, sends nothing either.
    package var toNobody: Message {
        var message = self
        message.to = ""
        return message
    }

    package var isForNobody: Bool { to.isEmpty }

    /// Messages of earlier versions are all mails.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(UUID.self, forKey: .id)
        topic = try container.decode(MessageTopic.self, forKey: .topic)
        channel = try container.decodeIfPresent(MessageChannel.self, forKey: .channel) ?? .email
        to = try container.decode(String.self, forKey: .to)
        code = try container.decodeIfPresent(String.self, forKey: .code)
        link = try container.decodeIfPresent(String.self, forKey: .link)
        until = try container.decodeIfPresent(Date.self, forKey: .until)
        provider = try container.decodeIfPresent(String.self, forKey: .provider)
        identities = try container.decodeIfPresent([String].self, forKey: .identities)
        locale = try container.decodeIfPresent(String.self, forKey: .locale)
    }
}

/// Queues messages in the transaction that they report.
package protocol MessageOutbox: Sendable {
    /// `uid` is the account that the messages are about; without it, it is the owner of the address.
    func enqueue(_ messages: [Message], about uid: UUID?, application: Application.ID) async throws
}

extension MessageOutbox {
    package func enqueue(_ messages: [Message], application: Application.ID) async throws {
        try await enqueue(messages, about: nil, application: application)
    }
}

/// A message that a worker has taken for a while.
package struct TakenMessage: Sendable {
    package let message: Message
    package let application: Application.ID
    package let applicationName: String
    /// How often sending it was tried before.
    package let attempts: Int

    package init(message: Message, application: Application.ID, applicationName: String, attempts: Int) {
        self.message = message
        self.application = application
        self.applicationName = applicationName
        self.attempts = attempts
    }
}

/// The workers' side of the outbox; any replica's worker may take any message.
package protocol OutboxQueue: Sendable {
    /// Due messages of one channel, hidden from other workers for `lease`.
    func take(_ channel: MessageChannel, atMost count: Int, lease: Duration) async throws -> [TakenMessage]
    /// Sent: its text is forgotten.
    func markSent(_ id: UUID, application: Application.ID) async throws
    /// Tries again after `delay`, or gives up visibly without one.
    func markFailed(_ id: UUID, reason: String, retryAfter delay: Duration?, application: Application.ID) async throws
    /// Puts a text message to that range of numbers on the budget, once for all its attempts.
    ///
    /// - Returns: whether it may leave; what may not costs nothing but, at most, a place of its range.
    func count(
        _ id: UUID, toward budget: TextBudget, range: String, application: Application.ID
    ) async throws -> Bool
    /// An element whenever messages may have become due; a hint, not a promise.
    var arrivals: AsyncStream<Void> { get }
}
