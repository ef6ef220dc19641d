/// The server's own clients, for which people sign in at the same pages as for others.
///
/// No configured client has one of these names, because an id contains no `~`.
package enum OwnClient: String, Sendable {
    /// The pages of the person's account; the request ends at one of them.
    case accountPages = "~account"
    /// The provider `hosted` of the REST interface; the request ends with a one-time code for `POST /auth/token`.
    case hosted = "~hosted"
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
    /// The client of a stored request; `nil` if it may not send the request any more.
    func client(of request: ClientRequest) -> OAuthClient? {
        OwnClient(rawValue: request.clientID).map { OAuthClient($0) } ?? settings.client(of: request)
    }
}
