internal import Accounts
internal import HTTPTypes
internal import Hummingbird

/// What a client must know before it can begin.
struct DiscoveryRoutes {
    let keys: any PublishedKeys

    var endpoints: [Endpoint] {
        [providers, keySet]
    }

    private var providers: Endpoint {
        .get("/auth/providers", "The providers that are enabled", answersWritten: ProviderList.self) { context in
            context.application.providerList
        }
    }

    /// Short enough that a verifier learns of a rotation while the old key is still published.
    private var keySet: Endpoint {
        .raw("/.well-known/jwks.json", "The public keys of access tokens, as a JWK Set") { context in
            .bytes(
                try await keys.keySet(of: context.application.application), type: "application/json",
                cache: "public, max-age=300")
        }
    }
}
