internal import Accounts
internal import Foundation
internal import ProviderKit

struct RefreshBody: Codable, Sendable {
    let refreshToken: String
}

struct LogoutBody: Codable, Sendable {
    let refreshToken: String?
    let scope: LogoutScope?
}

struct SessionList: Codable, Sendable {
    struct Entry: Codable, Sendable {
        let id: String
        @Nullable var device: String?
        @Nullable var address: String?
        let createdAt: Timestamp
        let lastSeenAt: Timestamp
        let current: Bool
    }

    let sessions: [Entry]

    init(_ listings: [SessionListing], current: UUID) {
        sessions = listings.map { listing in
            Entry(
                id: listing.id.text, device: listing.device, address: listing.address,
                createdAt: Timestamp(listing.createdAt), lastSeenAt: Timestamp(listing.lastSeenAt),
                current: listing.id == current)
        }
    }
}

struct RestoreBody: Codable, Sendable {
    let restoreToken: String
}

struct ProviderList: Codable, Sendable {
    struct Entry: Codable, Sendable {
        let name: String
        let kind: String
        let displayName: String
        let flow: String
    }

    let providers: [Entry]

    init(_ registry: ProviderRegistry) {
        providers = registry.enabled.map { provider in
            Entry(
                name: provider.name, kind: provider.kind, displayName: provider.displayName,
                flow: provider.flow.rawValue)
        }
    }
}

extension SessionList.Entry: DocumentedFields {
    static var fields: [String: JSONSchema] { ["id": .uuid] }
}

extension ProviderList.Entry: DocumentedFields {
    static var fields: [String: JSONSchema] { ["flow": .enumeration(["direct", "challenge", "redirect"])] }
}
