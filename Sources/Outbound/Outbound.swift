// Outbound: how providers reach their upstream services, isolated from each other, and how deliveries reach webhooks
// and the SMS gateway.
//
// `OutboundNetwork` creates one fetcher per owner (a provider of an application). A fetch is one exchange. The URL is
// parsed strictly (`UpstreamURL`). The owner's record admits the exchange, unless too many are under way or the
// upstream's circuit breaker is open. The host is resolved once (`Resolver`), and all its addresses must be public. The
// connection goes to exactly the address that was checked (`PinnedClients`), so that DNS rebinding has no effect.
// Redirects must stay on the same origin; sizes and times are limited. Every failure becomes
// `ProviderError.unavailable`, and its reason is logged.
//
// A delivery (`OutboundPoster`) passes the same checks, but follows no redirect, uses only the status of the response,
// and has no circuit breaker. The oldest TLS version is 1.2.
