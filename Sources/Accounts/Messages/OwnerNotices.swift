package import Foundation
internal import ProviderKit

package struct OwnerNotices: Sendable {
    package typealias Store = OwnerContactStore & MessageOutbox

    let store: any Store
    let application: Application.ID

    package init(store: any Store, application: Application.ID) {
        (self.store, self.application) = (store, application)
    }

    /// Sends a notice in the owner's languages to each verified e-mail address, or else to the phone numbers.
    package func send(
        _ topic: MessageTopic, toOwnerOf uid: UUID, until: Date? = nil, provider: String? = nil
    ) async throws {
        let contact = try await store.contact(of: uid, application: application)
        try await send(topic, to: contact, ofOwnerOf: uid, until: until, provider: provider)
    }

    /// Sends a notice to a contact that was read before.
    func send(
        _ topic: MessageTopic, to contact: OwnerContact, ofOwnerOf uid: UUID, until: Date? = nil,
        provider: String? = nil
    ) async throws {
        let messages = contact.noticeAddresses.map {
            Message(topic, to: $0, until: until, provider: provider, locale: contact.languages)
        }
        try await store.enqueue(messages, about: uid, application: application)
    }
}
