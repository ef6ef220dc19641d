package import Accounts
internal import Foundation
internal import ProviderKit

/// The device grant (RFC 8628): a device shows a code, and a person types it at the pages of a browser, and allows it.
///
/// The device polls the token endpoint meanwhile. Its session stands alone: it does not end with the browser session
/// that has allowed it, but takes over when and how the person authenticated there.
package struct DeviceGrants: Sendable {
    /// The response to a device that starts a sign-in.
    package struct Started: Sendable {
        package let deviceCode: String
        package let userCode: UserCode
        /// The page where the person types the code.
        package let page: String
        package let expiresIn, interval: Int
    }

    private static let lifetime: Duration = .seconds(600)
    private static let interval: Duration = .seconds(5)

    let store: any DeviceStore
    let counts: HandoffCounts
    let issuing: TokenIssuing

    /// Begins a device's request.
    /// - Throws: `OAuthError`.
    package func begin(
        _ parameters: RequestParameters, for client: OAuthClient, from connection: Client, at issuer: Issuer
    ) async throws -> Started {
        guard client.grants.contains(.deviceCode) else {
            throw OAuthError(.unauthorizedClient, "The client may not use the device grant")
        }
        let (settings, named) = (issuer.settings, parameters.all("resource"))
        let scopes = RequestValidation.scopes(
            parameters, of: client, from: settings.grantable(to: client),
            whereAbsent: client.scopes.sorted() + named.flatMap(settings.scopes(ofResource:)))
        guard !scopes.isEmpty else { throw OAuthError.noScope }
        let resources = try RequestValidation.resources(
            parameters, of: client, granting: Set(scopes), settings: settings)
        let code = issuing.opaque.make()
        let userCode = try await retryingOnConflict {
            let userCode = UserCode()
            let device = NewDevice(
                hash: code.hash, userCode: userCode.hash(at: issuer, by: issuing.opaque), clientID: client.id,
                issuer: issuer.url, scopes: scopes, resources: resources,
                requester: HandoffRequester(connection), lifetime: Self.lifetime, interval: Self.interval)
            try await store.store(device, application: issuer.application.id)
            return userCode
        }
        counts.add(.device, .shown)
        return Started(
            deviceCode: code.text, userCode: userCode, page: issuer.devicePage,
            expiresIn: Int(Self.lifetime.components.seconds), interval: Int(Self.interval.components.seconds))
    }

    /// Answers a poll that brings the grant's device code.
    func poll(
        _ code: OpaqueToken, for client: OAuthClient, from connection: Client, target: TokenTarget, by issuer: Issuer
    ) async throws -> (SessionGrant, ClientScope, refreshToken: OpaqueToken) {
        let policy = issuer.application.policy
        let poll = DevicePoll(
            code: code.hash, client: client, issuer: issuer.url, connection: connection,
            refreshToken: issuing.opaque.make().ofClient, sessionLifetime: policy.tokens.sessionLifetime,
            accessLifetime: issuer.longestAccessLifetime(of: client),
            refreshLifetime: client.refreshLifetime ?? policy.tokens.refreshLifetime, target: target,
            slowDown: Self.interval)
        switch try await retryingOnConflict({ try await store.poll(poll, application: issuer.application.id) }) {
        case .opened(let grant, let scope):
            counts.add(.device, .used)
            return (grant, scope, poll.refreshToken)
        case .refused: throw OAuthError.invalidGrant
        case .tooEarly: throw OAuthError(.slowDown, "The device polls too often; wait 5 seconds longer between polls")
        case .pending: throw OAuthError(.authorizationPending, "The person has not answered yet")
        case .denied: throw OAuthError.denied
        case .expired: throw OAuthError(.expiredToken, "The code has expired; ask for a new one")
        case .unsuitable(let scope, let isBorrowed):
            _ = try target.chosen(from: scope, isBorrowed: isBorrowed)
            throw OAuthError.invalidGrant
        }
    }
}

extension UserCode {
    /// The hash by which the database finds the code.
    func hash(at issuer: Issuer, by opaque: any OpaqueTokens) -> [UInt8] {
        opaque.pseudonym(of: "\(issuer.application.id)\n\(text)", purpose: "user code")
    }
}

extension Issuer {
    /// The page where people type the codes that devices show; it is the same for all places.
    package var devicePage: String { "\(application.issuer)/device" }

    /// The longest lifetime of an access token of the client.
    fileprivate func longestAccessLifetime(of client: OAuthClient) -> Duration {
        ([nil] + client.resources).map {
            settings.accessLifetime(of: client, resource: $0, in: application.policy)
        }.max() ?? .zero
    }
}

extension OpenIDSettings {
    /// Whether some client may use the device grant.
    package var hasDevices: Bool { clients.values.contains { $0.grants.contains(.deviceCode) } }
}
