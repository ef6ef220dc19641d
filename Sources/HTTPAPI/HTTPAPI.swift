package import Accounts
package import ProviderKit

/// The REST interface: routes, payloads, and the checks that every request passes.
///
/// `APIResponder` receives a request, finds its application and client, and passes it to the router. Each path and
/// method is declared once, as an `Endpoint`: `EndpointResponder` serves it (body, origin, a place for a hash, limit,
/// bearer, freshness, in that order, then its handler), and `/openapi.json` is written from the same declarations when
/// it is first requested. A handler decodes a payload, calls one use case and encodes what it returns; `APIResponder`
/// alone turns thrown errors into responses.
///
/// Two optimisations were measured and left out, because they changed nothing: running requests on the event loop that
/// reads them, by a task executor for each connection (at every `await` the runtime looks for it behind a lock, in
/// Swift 6.3), and a dictionary of the paths without parameters before the router.
package struct HTTPAPI: Sendable {
    private let endpoints: [Endpoint]
    private let authentication: BearerAuthentication
    private let limits: any RateLimiting
    private let hashing: any PasswordHashing
    private let refusals: RefusalAudit
    private let site: LiveSite
    private let metrics: RequestMetrics

    /// With an inbox, `/dev/inbox` shows its messages.
    package init(
        useCases: UseCases, keys: any PublishedKeys, installed: [any Provider.Type], site: LiveSite,
        health: any Health, metrics: RequestMetrics, gauges: [MetricsPage.Gauge], inbox: (any Inbox)?
    ) {
        let documented =
            DirectRoutes(useCases: useCases, installed: installed).endpoints
            + RedirectRoutes(useCases: useCases).endpoints
            + CodeRoutes(useCases: useCases, installed: installed).endpoints
            + NotificationRoutes(useCases: useCases, installed: installed).endpoints
            + PasswordRoutes(useCases: useCases).endpoints
            + SessionRoutes(useCases: useCases).endpoints
            + IdentityRoutes(useCases: useCases).endpoints
            + ReviewRoutes(useCases: useCases).endpoints
            + MergeRoutes(useCases: useCases).endpoints
            + AccountRoutes(useCases: useCases).endpoints
            + ExportRoutes(useCases: useCases).endpoints
            + DiscoveryRoutes(keys: keys).endpoints
            + HealthRoutes(health: health, metrics: metrics, gauges: gauges).endpoints
        let document = DocumentRoute(describing: documented).endpoint
        endpoints =
            documented + [document] + PageRoutes(inbox: inbox).endpoints + ReviewRoutes(useCases: useCases).pages
        authentication = useCases.authentication
        limits = useCases.limits
        hashing = useCases.hashing
        refusals = useCases.refusals
        self.site = site
        self.metrics = metrics
    }

    package func responder() -> APIResponder {
        let table = RouteTable(
            endpoints: endpoints, authentication: authentication, limits: limits, hashing: hashing,
            refusals: refusals)
        return APIResponder(site: site, router: table.router(), metrics: metrics)
    }
}
