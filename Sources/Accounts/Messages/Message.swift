package import Foundation
package import ProviderKit

/// The topic of a message, for which `Delivery` has a template.
package enum MessageTopic: String, Sendable, Codable, CaseIterable {
    case confirmRegistration
    /// Notifies an address's owner of a registration with the address, since the response does not reveal the owner.
    case registrationOfTakenAddress
    case resetPassword, passwordChanged
    /// Notifies the owner of a completed password reset; lists recently linked identities, with a link to review them.
    case passwordReset
    /// A one-time code; a mail may also contain a link that signs in.
    case signInCode
    case accountDeleted, accountRestored, identityRemoved, identityLinked, accountsMerged, mergeUndone
    /// Tells the owner that an OpenID client, named as `provider`, may use data of the account.
    case accessGiven
    /// Tells the owner that a device was signed in by a QR code that the owner's phone has confirmed.
    case qrSignIn
    /// Tells the owner that a device with the OpenID client named as `provider` may use the account.
    case deviceConnected
    /// Tells the former owner of an app's installation that another person has signed in on it; `provider` is the app's
    /// name.
    case appRebound
    /// Tells the owner that a device that the account has not had before signed in, and stays signed in without rotation.
    case newDevice
    /// Tells an administrator, and every owner, that a role was granted; `provider` is the role's name.
    case adminGranted
    /// Tells the owner that an administrator has exported everything that is held about them.
    case accountExported
    /// Tells the owner that the account's only way to sign in, named as `provider`, is switched off until a time.
    case signInEnding
    /// Notifies both the old and the new address that an identity's address was changed.
    case addressChanged
    /// A code that confirms the new address of an identity.
    case confirmAddress
    /// A link that adds the address, with a password, to a signed-in account.
    case confirmLink
    /// A link that creates an account for a person that an administrator has invited.
    case invitation
    /// A link that lets the owner into the account, by an administrator's act.
    case recovery
    /// Tells the owner that an administrator was shown such a link.
    case recoveryShown
}

/// Each channel has its own queue, so that a stalled channel does not delay the others.
package enum MessageChannel: String, Sendable, Codable, CaseIterable { case email, sms }

/// A message to a person, which holds one-time secrets and is stored sealed.
package struct Message: Sendable, Codable, Equatable {
    package let id: UUID
    package let topic: MessageTopic
    package let channel: MessageChannel
    /// The normalised address or number, never the text that a person typed; empty for a message that is not sent.
    package private(set) var to: String
    package let code, link: String?
    /// When the code or the link expires, or the deletion becomes final.
    package let until: Date?
    /// The display name of the provider that the message is about.
    package let provider: String?
    /// Names of the identities that the message lists.
    package let identities: [String]?
    /// The device that the message is about, its IP address and where that is, in words for people.
    package var device, address, place: String?
    /// The reader's languages in the form of `Accept-Language` (RFC 9110, 12.5.4), truncated.
    package let locale: String?

    package init(
        _ topic: MessageTopic, to address: Address, code: String? = nil, link: String? = nil, until: Date? = nil,
        provider: String? = nil, identities: [String]? = nil, locale: String? = nil
    ) {
        id = .v7()
        (self.topic, self.code, self.link, self.until) = (topic, code, link, until)
        (self.provider, self.identities) = (provider, identities)
        channel = address.kind == .email ? .email : .sms
        to = address.value
        self.locale = locale.map { String($0.prefix(200)) }
    }

    /// The same message without a recipient: queuing takes as long, so timing does not reveal that it is not sent.
    package var withoutRecipient: Message {
        var message = self
        message.to = ""
        return message
    }

    package var hasNoRecipient: Bool { to.isEmpty }

    /// Decodes a message; messages of earlier versions have no channel and are all mails.
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
        device = try container.decodeIfPresent(String.self, forKey: .device)
        address = try container.decodeIfPresent(String.self, forKey: .address)
        place = try container.decodeIfPresent(String.self, forKey: .place)
        locale = try container.decodeIfPresent(String.self, forKey: .locale)
    }
}

/// Queues messages in the transaction that makes the change.
package protocol MessageOutbox: Sendable {
    /// Queues the messages; `uid` is the account that they are about, by default the account that owns the address.
    func enqueue(_ messages: [Message], about uid: UUID?, application: Application.ID) async throws
}

extension MessageOutbox {
    package func enqueue(_ messages: [Message], application: Application.ID) async throws {
        try await enqueue(messages, about: nil, application: application)
    }
}
