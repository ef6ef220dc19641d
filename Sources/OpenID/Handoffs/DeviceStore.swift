package import Accounts
package import Foundation

/// A device's request to be signed in, as it is stored (RFC 8628, 3.2).
package struct NewDevice: Sendable {
    /// SHA-256 of the device code.
    package let hash: [UInt8]
    /// The keyed hash of the code that the device shows.
    package let userCode: [UInt8]
    package let clientID, issuer: String
    package let scopes, resources: [String]
    package let requester: HandoffRequester
    package let lifetime: Duration
    /// How long the device waits between two polls.
    package let interval: Duration
    /// What replicas may call the request.
    package let id = UUID.v7()
}

/// A device that waits for a person's answer, found by the code that it shows.
package struct WaitingDevice: Sendable, Codable, Equatable {
    /// SHA-256 of the device code.
    package let hash: [UInt8]
    package let userCode: UserCode
    package let clientID: String
    package let scopes, resources: [String]
    package let requester: HandoffRequester

    package init(
        hash: [UInt8], userCode: UserCode, clientID: String, scopes: [String], resources: [String],
        requester: HandoffRequester
    ) {
        (self.hash, self.userCode, self.clientID) = (hash, userCode, clientID)
        (self.scopes, self.resources, self.requester) = (scopes, resources, requester)
    }
}

/// A poll of a device, with the session to open if the person has allowed it.
package struct DevicePoll: Sendable {
    /// SHA-256 of the device code.
    package let code: [UInt8]
    package let client: OAuthClient
    package let issuer: String
    /// The device, as the session shows it.
    package let connection: Client
    package let refreshToken: OpaqueToken
    /// The lifetime of the session with and without a refresh token.
    package let sessionLifetime, accessLifetime: Duration
    package let refreshLifetime: Duration
    package let target: TokenTarget
    package let session = UUID.v7()
    /// How much longer the device waits between polls after one that came too early.
    package let slowDown: Duration
}

package enum DevicePollOutcome: Sendable {
    case opened(SessionGrant, ClientScope)
    /// The code is unknown, used, or of another client; or account, session or consent are not what they were.
    case refused
    case tooEarly, pending, denied, expired
    /// The client asks for more than the person has allowed; no session was opened.
    case unsuitable(ClientScope, isBorrowed: Bool)
}

package protocol DeviceStore: Sendable {
    /// - Throws: `StoreConflict` if another device shows the same code.
    func store(_ device: NewDevice, application: Application.ID) async throws

    /// The device that shows the code and waits for an answer; `hash` is the code's keyed hash.
    func waitingDevice(
        showing code: UserCode, hash: [UInt8], application: Application.ID
    ) async throws -> WaitingDevice?

    /// Stores the answer of a live session of a browser, and records it.
    /// - Returns: `false` if the device does not wait any more, or the session is not live.
    func answer(
        _ device: [UInt8], isAllowed: Bool, by session: UUID, application: Application.ID
    ) async throws -> Bool

    /// Notes the poll and, if the person has allowed the device, opens the client's session, by one statement.
    func poll(_ poll: DevicePoll, application: Application.ID) async throws -> DevicePollOutcome
}
