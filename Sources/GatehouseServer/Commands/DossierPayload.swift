internal import Accounts
internal import Foundation
internal import HTTPAPI
internal import ProviderKit

/// What `gatehouse account show` prints.
struct DossierPayload: Encodable {
    struct Identity: Encodable {
        let id: String
        let provider: String
        let providerUid: String
        let email: String?
        let emailVerified: Bool
        let createdAt: Timestamp
        let lastUsedAt: Timestamp?
    }

    let uid: String
    let application: String
    let status: String
    let purgeAfter: Timestamp?
    let email: String?
    let displayName: String?
    let isAnonymous: Bool
    let metadata: JSONValue
    let createdAt: Timestamp
    let updatedAt: Timestamp
    let identities: [Identity]
    let liveSessions: Int

    init(_ dossier: AccountDossier, application: String) {
        let user = dossier.user
        uid = user.uid.text
        self.application = application
        status = dossier.purgeAfter != nil ? "deleted" : dossier.isDisabled ? "disabled" : "live"
        purgeAfter = dossier.purgeAfter.map { Timestamp($0) }
        email = user.email
        displayName = user.displayName
        isAnonymous = user.isAnonymous
        metadata = user.metadata
        createdAt = Timestamp(user.createdAt)
        updatedAt = Timestamp(user.updatedAt)
        identities = dossier.identities.map { identity in
            Identity(
                id: identity.id.text, provider: identity.provider, providerUid: identity.providerUid,
                email: identity.email?.value, emailVerified: identity.emailVerified,
                createdAt: Timestamp(identity.createdAt), lastUsedAt: identity.lastUsedAt.map { Timestamp($0) })
        }
        liveSessions = dossier.liveSessions
    }
}
