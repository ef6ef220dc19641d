internal import Foundation
internal import ProviderKit

package struct OwnerNotices: Sendable {
    package typealias Store = OwnerContactStore & MessageOutbox

    let store: any Store
    let application: Application.ID

    /// Sends a notice in the owner's languages to each verified e-mail address, or else to the phone numbers.
    func send(_ topic: MessageTopic, toOwnerOf uid: UUID, until: Date? = nil, provider: String? = nil) async throws {
        let addresses = try await store.noticeAddresses(of: uid, application: application)
        guard !addresses.isEmpty else { return }
        let languages = try await store.languages(of: uid, application: application)
        try await store.enqueue(
            addresses.map { Message(topic, to: $0, until: until, provider: provider, locale: languages) },
            about: uid, application: application)
    }
}
