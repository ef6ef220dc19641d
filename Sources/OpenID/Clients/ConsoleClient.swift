internal import Accounts
internal import ProviderKit

extension OAuthClient {
    /// The id of the console, by which administrators see it among their sessions.
    package static let consoleID = "gatehouse-console"

    /// The console as a client of the application that has the administrators' accounts.
    ///
    /// - Throws: `ClientRedirectURI.Fault`.
    package static func console(at callback: String) throws -> OAuthClient {
        var client = OAuthClient(id: consoleID, names: ["": "Gatehouse console"])
        client.redirectURIs = [try ClientRedirectURI(callback)]
        (client.isFirstParty, client.scopes, client.grants) = (true, ["openid"], [.authorizationCode])
        client.asksToConfirm = false
        return client
    }
}
