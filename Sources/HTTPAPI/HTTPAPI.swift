package import Accounts
package import ProviderKit

/// The REST interface: routes, payloads, and the checks that every request passes.
///
/// `APIResponder` receives a request, finds its application and client, and passes it to the router. An `Operation` is
/// the call of one use case with its guards: who may call it, how often, and what it may end in. An `Endpoint` serves
/// an operation at a method and path: `EndpointResponder` runs the guards (body, origin, a place for a hash, limit,
/// bearer, freshness, in that order), reads the input, runs the operation and writes its output. `/openapi.json` is
/// written from the same declarations when it is first requested. `APIResponder` alone turns thrown errors into
/// responses.
///
/// Two optimisations were measured and left out, because they changed nothing: running requests on the event loop that
/// reads them, by a task executor for each connection (at every `await` the runtime looks for it behind a lock, in
/// Swift 6.3), and a dictionary of the paths without parameters before the router.
package struct HTTPAPI: Sendable {
    private let endpoints: [Endpoint]
    private let services: EndpointResponder.Services
    private let site: LiveSite
    private let metrics: RequestMetrics

    /// With an inbox, `/dev/inbox` shows its messages.
    package init(
        useCases: UseCases, keys: any PublishedKeys, installed: [any Provider.Type], site: LiveSite,
        health: any Health, metrics: RequestMetrics, gauges: [MetricsPage.Gauge], inbox: (any Inbox)?
    ) {
        let operations = Operations(useCases)
        let documented =
            APIRoutes(operations: operations, installed: installed).endpoints
            + ServerRoutes(keys: keys, health: health, metrics: metrics, gauges: gauges).endpoints
        let pages = PageRoutes(identities: operations.identities, inbox: inbox).endpoints
        endpoints = documented + [DocumentRoute(describing: documented).endpoint] + pages
        services = EndpointResponder.Services(
            authentication: useCases.authentication, limits: useCases.limits, hashing: useCases.hashing,
            refusals: useCases.refusals)
        self.site = site
        self.metrics = metrics
    }

    package func responder() -> APIResponder {
        let table = RouteTable(endpoints: endpoints, services: services)
        return APIResponder(site: site, router: table.router(), metrics: metrics)
    }
}
