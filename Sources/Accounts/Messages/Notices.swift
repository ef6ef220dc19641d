internal import Foundation
internal import ProviderKit

extension AccountsStore {
    /// Tells the owner of an account what happened to it, at each of its verified addresses and in its own languages; by
    /// text where there is nothing but a number.
    func notify(
        ownerOf uid: UUID, _ topic: MessageTopic, until: Date? = nil, provider: String? = nil,
        application: Application.ID
    ) async throws {
        let addresses = try await noticeAddresses(of: uid, application: application)
        guard !addresses.isEmpty else { return }
        let languages = try await languages(of: uid, application: application)
        try await enqueue(
            addresses.map { Message(topic, notifying: $0, until: until, provider: provider, locale: languages) },
            about: uid, application: application)
    }
}
