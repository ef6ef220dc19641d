// Outbound: how providers reach the services behind them, each for itself, and how deliveries reach webhooks and the
// SMS gateway.
//
// `OutboundNetwork` hands out one fetcher per owner (a provider of an application). An exchange goes like this: the URL
// is read strictly (`UpstreamURL`); the owner's record admits it, unless the owner has too many under way or the
// upstream's circuit breaker is open; the host is resolved once (`Resolver`), every address it has must be public, and
// the connection goes to exactly the address that was checked (`PinnedClients`), so that a name which resolves
// differently a moment later leads nowhere. Redirects stay on the same origin; sizes and times are bounded; whatever
// fails becomes `ProviderError.unavailable`, and the log says why.
//
// A delivery (`OutboundPoster`) goes through the same checks, but follows no redirect, reads nothing but the status,
// and has no circuit breaker. TLS 1.2 is the oldest version that is spoken.
