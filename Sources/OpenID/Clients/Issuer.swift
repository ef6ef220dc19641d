package import Accounts
internal import Foundation
internal import ProviderKit

/// An application as an OpenID provider.
package struct Issuer: Sendable {
    package let application: Application
    package let settings: OpenIDSettings

    package init(application: Application, settings: OpenIDSettings) {
        (self.application, self.settings) = (application, settings)
    }

    /// The issuer's URL.
    var url: String { application.issuer }

    /// The name of a client in English, or for all languages; `nil` for a client that is not configured any more.
    package func name(ofClient id: String) -> String? {
        settings.clients[id]?.name
    }

    /// The name of an account for a client (OpenID Connect Core, 8).
    ///
    /// A pairwise name is a keyed hash, so that clients of different hosts cannot compare their accounts.
    func subject(of uid: UUID, for client: OAuthClient, by opaque: any OpaqueTokens) -> String {
        guard client.subjectType == .pairwise, let sector = client.sector else { return uid.text }
        let name = "\(application.id)\n\(sector)\n\(uid.text)"
        return Digest.base64URL(opaque.pseudonym(of: name, purpose: "pairwise subject"))
    }
}
