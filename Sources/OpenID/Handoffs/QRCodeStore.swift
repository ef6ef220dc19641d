package import Accounts
package import Foundation
internal import ProviderKit

/// A code that a page shows as a picture.
package struct NewQRCode: Sendable {
    /// SHA-256 of the code.
    package let hash: [UInt8]
    /// The request whose page shows it.
    package let request: [UInt8]
    package let clientID, issuer: String
    package let requester: HandoffRequester
}

/// The newest code of a request, as its page shows it.
package struct ShownQRCode: Sendable, Equatable {
    package var state: HandoffState
    /// What the person types on the phone, or compares with what the phone shows.
    package var number: Int?
    package var isNumberShown: Bool
    /// The time until it expires, if it has not been answered.
    package var remaining: Duration
    /// The account that has confirmed it, and how the person knows that.
    package var account: UUID?
    package var name, address: String?

    package init(state: HandoffState, number: Int?, isNumberShown: Bool, remaining: Duration) {
        (self.state, self.number, self.isNumberShown, self.remaining) = (state, number, isNumberShown, remaining)
    }
}

/// A code as a phone finds it.
package struct FoundQRCode: Sendable {
    /// The request of the code, which notices of a change to the replicas name.
    package var request: [UInt8]
    package var state: HandoffState
    /// Whether no other account has looked at it before.
    package var isOfAccount: Bool
    /// Whether no other session has looked at it before.
    package var isOfSession: Bool
    package var number: Int?
    package var isNumberShown: Bool
    package var clientID, issuer: String
    package var requester: HandoffRequester
    package var expiresAt: Date
    /// Whether this call has changed the code; the state is the one before.
    package var isChanged: Bool

    package init(
        request: [UInt8], state: HandoffState, isOfAccount: Bool, isOfSession: Bool, number: Int?, isNumberShown: Bool,
        clientID: String, issuer: String, requester: HandoffRequester, expiresAt: Date, isChanged: Bool
    ) {
        (self.request, self.state, self.isOfAccount, self.isOfSession) = (request, state, isOfAccount, isOfSession)
        (self.number, self.isNumberShown, self.clientID, self.issuer) = (number, isNumberShown, clientID, issuer)
        (self.requester, self.expiresAt, self.isChanged) = (requester, expiresAt, isChanged)
    }
}

/// Why a person refuses a sign-in.
package enum QRRefusal: String, Sendable, SentChoice {
    case mistake
    /// The person has not asked for it.
    case unauthorized
}

/// What a person answers on the phone.
package enum QRAnswer: Sendable {
    /// Without a number the person has compared it, which counts only for an app that has shown it.
    case confirm(number: Int?)
    case refuse(QRRefusal)

    /// Whether the answer lacks the number that the person must type.
    func lacksNumber(of code: FoundQRCode) -> Bool {
        if case .confirm(number: nil) = self { !code.isNumberShown } else { false }
    }
}

/// What a phone's call has found.
package enum QRCodeReading: Sendable {
    /// The caller's session is not live, is borrowed or a guest's.
    case refusedCaller
    case unknown
    case found(FoundQRCode)
}

/// The identity with which a session that confirms a code was opened.
package struct QRCodeOpener: Sendable {
    package let identity: KnownIdentity
    package let provider, providerUid: String

    package init(identity: KnownIdentity, provider: String, providerUid: String) {
        (self.identity, self.provider, self.providerUid) = (identity, provider, providerUid)
    }
}

package protocol QRCodeStore: AccountLocks, AuditTrail, MessageOutbox, OwnerContactStore, SessionOpeningStore,
    TransactionalStore
{
    /// Stores a code, and ends the request's former ones.
    func store(_ code: NewQRCode, for lifetime: Duration, application: Application.ID) async throws

    /// The newest code of a request that the browser with this flow cookie has.
    /// - Returns: `nil` also if the request is not open.
    func qrCode(of request: [UInt8], browser: [UInt8], application: Application.ID) async throws -> ShownQRCode?

    /// Ends the codes of a request.
    func endQRCodes(of request: [UInt8], application: Application.ID) async throws

    /// Ties a code to the first session that looks at it, with a number that its page shows from then on.
    ///
    /// `isShown` is whether the phone's app shows the number, too; if it does not, the person must type it.
    func lookAtQRCode(
        _ hash: [UInt8], by session: UUID, of uid: UUID, number: Int, isShown: Bool, application: Application.ID
    ) async throws -> QRCodeReading

    /// Answers a code that the session has looked at; a wrong number refuses it, a missing one changes nothing.
    func answerQRCode(
        _ hash: [UInt8], with answer: QRAnswer, by session: UUID, of uid: UUID, application: Application.ID
    ) async throws -> QRCodeReading

    /// Uses up a confirmed code of the request.
    /// - Returns: the session that has confirmed it; `nil` if it is not confirmed or has expired.
    func takeQRCode(
        _ hash: [UInt8], of request: [UInt8], application: Application.ID
    ) async throws -> (session: UUID, uid: UUID)?

    /// The identity of a live session that may confirm codes.
    func qrCodeOpener(session: UUID, of uid: UUID, application: Application.ID) async throws -> QRCodeOpener?

    /// Tells every replica, when the transaction commits, that the code of a request has changed.
    func announceHandoff(_ id: UUID, application: Application.ID) async throws

    /// The principal of a live session of an OpenID client.
    func principal(
        ofClientSession session: UUID, client: String, in application: Application
    ) async throws -> Principal?
}
