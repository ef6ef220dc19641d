package import Foundation
package import ProviderKit

/// Reads how the owner of an account can be reached.
package protocol OwnerContactStore: Sendable {
    func contact(of uid: UUID, application: Application.ID) async throws -> OwnerContact
}

/// The addresses to which notices for an account's owner are sent, and the owner's languages.
package struct OwnerContact: Sendable, Equatable {
    /// The account's verified addresses, except those whose mail a relay does not forward.
    package var addresses: [Address]
    /// In the form of `Client.languages`; `nil` for accounts older than this column.
    package var languages: String?

    package init(addresses: [Address] = [], languages: String? = nil) {
        self.addresses = addresses
        self.languages = languages
    }

    /// The e-mail addresses, or the phone numbers if there is no e-mail address.
    var noticeAddresses: [Address] {
        let emails = addresses.filter { $0.kind == .email }
        return emails.isEmpty ? addresses : emails
    }

    /// The contact after the account has got further addresses.
    func adding(_ further: [Address]) -> OwnerContact {
        OwnerContact(addresses: addresses + further.filter { !addresses.contains($0) }, languages: languages)
    }
}
