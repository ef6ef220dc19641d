// Outbound: how providers reach their upstream services, isolated from each other, and how deliveries reach webhooks
// and the SMS gateway.
//
// `OutboundNetwork` makes one fetcher per owner (a provider of an application). A fetch is one exchange: the URL is
// parsed strictly (`UpstreamURL`); the owner's record admits it, unless too many are under way or the upstream's circuit
// breaker is open; the host is resolved once (`Resolver`), all its addresses must be public, and the connection goes to
// exactly the address that was checked (`PinnedClients`), so that DNS rebinding has no effect. Redirects must stay on
// the same origin; sizes and times are limited. Every failure becomes `ProviderError.unavailable`, and the log has the
// reason.
//
// A delivery (`OutboundPoster`) passes the same checks, but follows no redirect, uses only the status of the response,
// and has no circuit breaker. The oldest TLS version is 1.2.
