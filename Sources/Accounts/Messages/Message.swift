package import Foundation
package import ProviderKit

/// What a message to a person is about; each has a template in `Delivery`.
package enum MessageTopic: String, Sendable, Codable, CaseIterable {
    case confirmRegistration
    /// Somebody registered with an address that has an account: its owner is told, the registrant is not.
    case registrationOfTakenAddress
    case resetPassword
    case passwordChanged
    case signInCode
    case accountDeleted
    case accountRestored
    /// The provider told that the person no longer signs in with it.
    case identityRemoved
    /// A new way of signing in joined the account by an address that it proved.
    case identityLinked
}

/// A message to a person.
///
/// It holds one-time secrets, so that it is sealed wherever it is kept.
package struct Message: Sendable, Codable, Equatable {
    package let id: UUID
    package let topic: MessageTopic
    /// The stored address, never one that was typed.
    package let to: String
    /// A one-time code.
    package let code: String?
    package let link: String?
    /// Until when the link works, or the deletion can be undone.
    package let until: Date?
    /// What a button of the provider that it is about says.
    package let provider: String?

    package init(
        _ topic: MessageTopic, to address: EmailAddress, link: String? = nil, until: Date? = nil,
        provider: String? = nil
    ) {
        id = .v7()
        self.topic = topic
        to = address.value
        self.link = link
        code = nil
        self.until = until
        self.provider = provider
    }

    package init(
        _ topic: MessageTopic, to address: Address, code: String, link: String? = nil, until: Date? = nil
    ) {
        id = .v7()
        self.topic = topic
        to = address.value
        self.link = link
        self.code = code
        self.until = until
        provider = nil
    }
}

/// Where messages are written, in the transaction of what they tell about.
package protocol MessageOutbox: Sendable {
    func enqueue(_ messages: [Message], application: Int32) async throws
}

/// A message that a worker has taken for a while.
package struct TakenMessage: Sendable {
    package let message: Message
    package let application: Int32
    package let applicationName: String
    /// How often sending it was tried before.
    package let attempts: Int

    package init(message: Message, application: Int32, applicationName: String, attempts: Int) {
        self.message = message
        self.application = application
        self.applicationName = applicationName
        self.attempts = attempts
    }
}

/// The workers' side of the outbox; any replica's worker may take any message.
package protocol OutboxQueue: Sendable {
    /// Due messages, hidden from other workers for `lease`.
    func take(atMost count: Int, lease: Duration) async throws -> [TakenMessage]
    /// Sent: its text is forgotten.
    func markSent(_ id: UUID, application: Int32) async throws
    /// Tries again after `delay`, or gives up visibly without one.
    func markFailed(_ id: UUID, reason: String, retryAfter delay: Duration?, application: Int32) async throws
    /// An element whenever messages may have become due; a hint, not a promise.
    var arrivals: AsyncStream<Void> { get }
}
