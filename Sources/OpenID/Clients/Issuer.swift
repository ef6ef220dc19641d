package import Accounts
internal import Foundation
internal import ProviderKit

/// An application as an OpenID provider.
package struct Issuer: Sendable {
    package let application: Application
    package let settings: OpenIDSettings
    package let place: Place

    package init(application: Application, settings: OpenIDSettings, at place: Place = .plain) {
        (self.application, self.settings, self.place) = (application, settings, place)
    }

    /// The issuer's URL.
    package var url: String { application.issuer + place.base }

    /// The configured client with this id; for the id of an installation, the client that its software is configured as.
    ///
    /// `nil` for a registered client, and for one that is not configured any more.
    package func configuredClient(_ id: String) -> OAuthClient? {
        OAuthClient.isInstance(id) ? software(ofInstance: id)?.template : settings.clients[id]
    }

    /// The configured software whose installations have such ids: `dyn~`, its name, and a random part.
    package func software(ofInstance id: String) -> Software? {
        guard OAuthClient.isInstance(id) else { return nil }
        let parts = id.utf8.split(separator: UInt8(ascii: "~"), maxSplits: 2)
        return parts.count == 3 ? settings.software(String(Substring(parts[1]))) : nil
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
