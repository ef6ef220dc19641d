package import Accounts
package import Administration
package import OpenID
package import ProviderKit

/// The REST interface: routes, payloads, and the checks that every request passes.
///
/// `APIResponder` receives a request, finds its application and client, and passes it to the router. An `Operation` is
/// the call of one use case with its guards: who may call it, how often, and which errors it may return. An `Endpoint`
/// serves an operation at a method and path. `EndpointResponder` runs the guards in this order: size and type of the
/// body, origin, capacity of the password hashing queue, rate limit, access token, recent authentication. It then reads
/// the input, runs the operation and writes its output. `/openapi.json` is generated from the same declarations when it
/// is first requested. Only `APIResponder` turns thrown errors into responses.
///
/// Two optimisations were measured and left out, because they had no effect. The first was a task executor for each
/// connection that runs requests on the event loop that reads them; in Swift 6.3 the runtime takes a lock at every
/// `await` to find the executor. The second was a dictionary of the paths without parameters, consulted before the
/// router.
package struct HTTPAPI: Sendable {
    /// The version of the server, and of the interface that it serves.
    package static let version = "1"

    let endpoints: [Endpoint]
    private let services: EndpointResponder.Services
    private let site: LiveSite
    private let metrics: RequestMetrics
    private let dialectMetrics = DialectMetrics()

    /// Creates the interface; if `inbox` is set, `/dev/inbox` shows its messages.
    package init(
        useCases: UseCases, openID: OpenIDUseCases, administration: AdministrationUseCases, keys: any PublishedKeys,
        installed: [any Provider.Type],
        site: LiveSite,
        health: any Health, metrics: RequestMetrics, gauges: [MetricsPage.Gauge], inbox: (any Inbox)?
    ) {
        let operations = Operations(useCases, openID: openID)
        let oauth = OAuthMetrics()
        let scans = QROperations(signIn: openID.qrSignIn)
        let clients = OAuthOperations(useCases: openID, limits: useCases.limits, metrics: oauth)
        let steps = StepOperations(
            authorization: openID.authorization, steps: openID.steps, qrCodeWaits: openID.qrCodeWaits,
            refusals: useCases.refusals)
        let links = MailedLinkOperations(links: openID.mailedLinks, refusals: useCases.refusals)
        let accounts = AccountPageOperations(
            pages: openID.accountPages, native: openID.native, refusals: useCases.refusals)
        let documented =
            APIRoutes(operations: operations, installed: installed).endpoints
            + Issuer.Place.allCases.flatMap { OAuthRoutes(operations: clients, place: $0).endpoints }
            + Issuer.Place.allCases.flatMap {
                RegistrationRoutes(
                    operations: RegistrationOperations(registration: openID.registration), place: $0
                ).endpoints
            }
            + StepRoutes(operations: steps).endpoints + MailedLinkRoutes(operations: links).endpoints
            + AccountPageRoutes(operations: accounts).endpoints
            + QRRoutes(operations: scans).endpoints + BlitzQRRoutes(operations: scans).endpoints
            + ServerRoutes(
                keys: keys, health: health, metrics: metrics,
                gauges: gauges + oauth.gauges + openID.handoffGauges + dialectMetrics.gauges
            ).endpoints + ClientRoutes().endpoints
        let start = inbox.map { _ in
            StartOperations(guests: openID.guestSignIns, signIn: operations.providers.guestSignIn(of: installed))
        }
        let dialects = Self.dialects.flatMap { dialect in
            let own = dialect.endpoints(operations)
            let endpoints = own.map { $0.sharingLimits(of: documented + own) }
            return endpoints + [.document(of: endpoints, in: dialect)]
        }
        let limitedRoutes = Set((documented + dialects).map(\.route)).sorted()
        let ofAdministrators = AdminRoutes(useCases: administration, limitedRoutes: limitedRoutes).endpoints
        let console = ConsoleRoutes(
            operations: ConsoleOperations(
                console: ConsoleServices(
                    administration: administration, openID: openID, limits: useCases.limits,
                    endpoints: ofAdministrators)))
        endpoints =
            documented + dialects + ofAdministrators + [.administrationDocument(of: ofAdministrators)]
            + console.endpoints + [.document(of: documented)] + StartRoutes(development: start).endpoints
            + InboxRoutes(inbox: inbox).endpoints + ClientRoutes().copies
        services = EndpointResponder.Services(
            authentication: useCases.authentication, scanners: openID.qrBearers, limits: useCases.limits,
            hashing: useCases.hashing, refusals: useCases.refusals,
            administration: administration, statistics: useCases.statistics)
        self.site = site
        self.metrics = metrics
    }

    /// The responder for the requests that arrive at a listener.
    package func responder(at listener: Listener = .main) -> APIResponder {
        let table = RouteTable(endpoints: endpoints, services: services)
        return APIResponder(
            site: site, listener: listener, router: table.router(), exceptions: table.exceptions, metrics: metrics,
            dialectMetrics: dialectMetrics, statistics: services.statistics)
    }
}
