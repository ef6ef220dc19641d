internal import Accounts
internal import ProviderKit

/// An account as its owner sees it.
struct UserPayload: Codable, Sendable {
    let id: String
    @Nullable var email: String?
    let emailVerified: Bool
    @Nullable var phone: String?
    let phoneVerified: Bool
    @Nullable var displayName: String?
    let isAnonymous: Bool
    let authProviders: [String]
    let metadata: JSONValue
    let createdAt: Timestamp
    let updatedAt: Timestamp

    init(_ user: User) {
        id = user.uid.text
        email = user.email
        emailVerified = user.email != nil
        phone = user.phone
        phoneVerified = user.phone != nil
        displayName = user.displayName
        isAnonymous = user.isAnonymous
        authProviders = user.providers
        metadata = user.metadata
        createdAt = Timestamp(user.createdAt)
        updatedAt = Timestamp(user.updatedAt)
    }
}

extension UserPayload: DirectlyWritten {
    func write(to object: inout JSONObjectWriter) {
        object.add(CodingKeys.id, id)
        object.add(CodingKeys.email, orNull: email)
        object.add(CodingKeys.emailVerified, emailVerified)
        object.add(CodingKeys.phone, orNull: phone)
        object.add(CodingKeys.phoneVerified, phoneVerified)
        object.add(CodingKeys.displayName, orNull: displayName)
        object.add(CodingKeys.isAnonymous, isAnonymous)
        object.add(CodingKeys.authProviders, authProviders)
        object.add(CodingKeys.metadata, metadata)
        object.add(CodingKeys.createdAt, createdAt.text)
        object.add(CodingKeys.updatedAt, updatedAt.text)
    }
}

/// What a person may change of their account; what is absent stays as it is.
struct UserChanges: Codable, Sendable {
    let displayName: String?
    /// Takes the place of the whole metadata.
    let metadata: JSONValue?
}

extension UserChanges: MemberLimited {
    static let limit = JSONText.MemberLimit(name: "metadata", bytes: Profile.largestMetadata)
}

extension UserPayload: DocumentedFields {
    static var fields: [String: JSONSchema] { ["id": .uuid] }
}

extension UserChanges: DocumentedFields {
    static var fields: [String: JSONSchema] { ["displayName": .displayName, "metadata": .metadata] }
}
