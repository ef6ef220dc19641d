internal import Accounts
internal import Foundation
internal import ProviderKit

/// The server's own clients, for which people sign in at the same pages as for others.
///
/// No configured client has one of these names, because an id contains no `~`.
package enum OwnClient: String, Sendable {
    /// The pages of the person's account; the request ends at one of them.
    case accountPages = "~account"
    /// The provider `hosted` of the REST interface; the request ends with a one-time code for `POST /auth/token`.
    case hosted = "~hosted"
    /// The page where people type the codes of devices; the request ends with an answer to a device.
    case device = "~device"

    /// The name of `hosted` among the providers of the REST interface, which no configured provider has.
    package static let hostedProvider = "hosted"
}

extension OAuthClient {
    package init(_ own: OwnClient) {
        self.init(id: own.rawValue, names: [:])
        (isFirstParty, scopes, allowsGuests) = (true, ["openid"], own == .accountPages)
    }

    package var own: OwnClient? { OwnClient(rawValue: id) }
}

extension ClientRequest {
    /// A request of the server's own pages, which ends at one of their URLs, or at that of an app (`hosted`).
    package init(_ own: OwnClient, endingAt url: String) {
        self.init(clientID: own.rawValue, returnAddress: ReturnAddress(redirectURI: url), scopes: ["openid"])
    }
}

extension Issuer {
    /// The server's own client of a stored request; `nil` if it may not send the request any more.
    func ownClient(of request: ClientRequest) -> OAuthClient? {
        switch OwnClient(rawValue: request.clientID) {
        case .accountPages?: OAuthClient(.accountPages)
        case .hosted?: hostedClient(endingAt: request.returnAddress.redirectURI)
        case .device?: OAuthClient(.device)
        case nil: nil
        }
    }

    /// The app of the REST interface with this redirect URI; `nil` if the URI is not registered any more.
    private func hostedClient(endingAt uri: String) -> OAuthClient? {
        guard application.redirectURIs.contains(where: { $0.uri.hasSameBytes(as: uri) }) else { return nil }
        var client = OAuthClient(.hosted)
        let url = URLComponents(string: uri)
        let isOfWeb = ["https", "http"].contains(url?.scheme?.lowercased()) && url?.host?.isLoopbackHost != true
        client.isDeclaredNative = !isOfWeb
        return client
    }
}
