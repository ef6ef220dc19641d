import Accounts
import Administration
import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

extension TestServer {
    static let operations = AdministrativeAct(by: .command(host: "gate.example"))

    /// Sets a person's roles and claims, as `gatehouse account access` does.
    @discardableResult
    func setAccess(
        _ roles: [String]? = nil, claims: [String: JSONValue]? = nil, endSessions: Bool = false, of uid: String,
        by act: AdministrativeAct = operations
    ) async throws -> AccountAccess {
        let uid = try #require(UUID(uuidString: uid))
        let change = AccessChange(roles: roles, claims: claims, endsSessions: endSessions)
        return try await acts.setAccess(change, of: uid, by: act, in: application())
    }
}

extension APIClient.Answer {
    /// The claims of the access token in the answer to a sign-in.
    func accessClaims(sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONValue {
        let text = self["accessToken"].string ?? self["access_token"].string
        return try DecodedToken(try #require(text, "\(self.text)", sourceLocation: sourceLocation)).claims
    }
}
