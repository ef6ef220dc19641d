internal import Accounts
internal import ProviderKit

/// An authorization request of the client `demo-app` of `gatehouse dev`, for people to try.
///
/// It ends at an address that nothing serves, so that its code can be copied from there.
package struct ExampleRequest {
    static let client = "demo-app"
    private static let redirectURI = "http://127.0.0.1:3000/callback"

    private let issuer: String
    private let verifier = Digest.base64URL(SystemRandom.bytes(32))

    package init(issuer: String) { self.issuer = issuer }

    package var url: String {
        "\(issuer)/oauth/authorize?response_type=code&client_id=\(Self.client)&redirect_uri=\(Self.redirectURI)"
            + "&scope=openid%20profile%20email%20offline_access&state=demo"
            + "&code_challenge=\(CodeChallenge.s256(of: verifier))&code_challenge_method=S256"
    }

    /// A shell command that redeems the code.
    package var redemption: String {
        "CODE=...; curl -s \(issuer)/oauth/token -d grant_type=authorization_code "
            + "-d client_id=\(Self.client) -d redirect_uri=\(Self.redirectURI) -d code_verifier=\(verifier) -d code=$CODE"
    }
}
