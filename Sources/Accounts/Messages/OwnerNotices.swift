package import Foundation
internal import ProviderKit

/// A device that has asked for something, as a notice shows it.
package struct NoticedDevice: Sendable {
    /// Browser and system; `nil` if they are not known.
    package let words: String?
    package let address: String
    /// Where the address is, in the reader's languages; `nil` if that is not known.
    package let place: @Sendable (_ languages: String?) -> String?

    package init(words: String?, address: String, place: @escaping @Sendable (_ languages: String?) -> String?) {
        (self.words, self.address, self.place) = (words, address, place)
    }
}

package struct OwnerNotices: Sendable {
    package typealias Store = OwnerContactStore & MessageOutbox

    let store: any Store
    let application: Application.ID

    package init(store: any Store, application: Application.ID) {
        (self.store, self.application) = (store, application)
    }

    /// Sends a notice in the owner's languages to each verified e-mail address, or else to the phone numbers.
    package func send(
        _ topic: MessageTopic, toOwnerOf uid: UUID, until: Date? = nil, provider: String? = nil,
        about device: NoticedDevice? = nil
    ) async throws {
        let contact = try await store.contact(of: uid, application: application)
        try await send(topic, to: contact, ofOwnerOf: uid, until: until, provider: provider, about: device)
    }

    /// Sends a notice to a contact that was read before, and to further addresses.
    func send(
        _ topic: MessageTopic, to contact: OwnerContact, and further: [Address] = [], ofOwnerOf uid: UUID,
        until: Date? = nil, provider: String? = nil, about device: NoticedDevice? = nil
    ) async throws {
        // A longer line would be wrapped by mail programs.
        let place = device?.place(contact.languages).map { String($0.prefix(70)) }
        let usual = contact.noticeAddresses
        let messages = (usual + further.filter { !usual.contains($0) }).map { address in
            var message = Message(topic, to: address, until: until, provider: provider, locale: contact.languages)
            (message.device, message.address, message.place) = (device?.words, device?.address, place)
            return message
        }
        try await store.enqueue(messages, about: uid, application: application)
    }
}
