internal import Accounts
internal import HTTPTypes
internal import OpenID
internal import ProviderKit

/// What an app of Immich asks a server before anybody has signed in.
struct ImmichServer {
    static var endpoints: [Endpoint] {
        [
            read("/.well-known/immich", "Where the calls of apps are", returns: ImmichDiscovery.self) { _, _ in
                ImmichDiscovery()
            },
            read("/api/server/ping", "That the server answers", returns: ImmichPong.self) { _, _ in ImmichPong() },
            read("/api/server/version", "The version of the back end", returns: ImmichSettings.Version.self) {
                settings, _ in
                guard let version = settings.version else { throw APIError.nothingHere }
                return version
            },
            read("/api/server/config", "How the server is set up", returns: ImmichConfig.self) {
                ImmichConfig(settings: $0, application: $1)
            },
            read("/api/server/features", "What the server can do", returns: ImmichFeatures.self) {
                ImmichFeatures(settings: $0, application: $1)
            },
        ]
    }

    /// A call that anyone may make, and that is answered from the configuration.
    private static func read<Body: ResponsePayload>(
        _ path: String, _ summary: String, returns type: Body.Type,
        _ body: @escaping @Sendable (ImmichSettings, Accounts.Application) throws -> Body
    ) -> Endpoint {
        Operation<Void, Body>("immich.read \(path)", limits: .none) { context, _ in
            try body(context.immich, context.application)
        }
        .at(.get, below: "", path, summary, takes: .nothing, returns: .json)
    }
}

/// A path, not a URL: apps append it to the base that the person has typed.
private struct ImmichDiscovery: ResponsePayload {
    struct API: ResponsePayload {
        static let fields = ResponseFields<Self>("ImmichAPI") { Field("endpoint") { _ in "/api" } }
    }

    static let fields = ResponseFields<Self>("ImmichDiscovery") { Field("api") { _ in API() } }
}

private struct ImmichPong: ResponsePayload {
    static let fields = ResponseFields<Self>("ImmichPong") { Field("res") { _ in "pong" } }
}

extension ImmichSettings.Version: ResponsePayload {
    package static let fields = ResponseFields<Self>("ImmichVersion") {
        Field("major", \.major)
        Field("minor", \.minor)
        Field("patch", \.patch)
    }
}

/// The configuration of the server; apps crash if one of the fields is absent.
private struct ImmichConfig: ResponsePayload {
    let settings: ImmichSettings
    let application: Accounts.Application

    static let fields = ResponseFields<Self>("ImmichConfig", furtherMembers: \.settings.config) {
        Field("loginPageMessage", \.settings.loginPageMessage)
        Field("oauthButtonText", \.settings.buttonText)
        Field("externalDomain", \.application.issuer)
        Field("isInitialized") { _ in true }
        Field("isOnboarded") { _ in true }
        member("trashDays", Int.schema)
        // In whole days.
        Field("userDeleteDelay") { Int($0.application.policy.deletionGracePeriod.components.seconds / 86400) }
        member("publicUsers", Bool.schema)
        member("mapDarkStyleUrl", String.schema)
        member("mapLightStyleUrl", String.schema)
        member("maintenanceMode", Bool.schema)
    }

    private static func member(_ name: String, _ schema: JSONSchema) -> Field<Self> {
        Field(name, as: schema) { $0.settings.config[name] ?? ImmichSettings.defaultConfig[name] ?? .null }
    }
}

/// The capabilities of the server; apps crash if one of the fields is absent.
private struct ImmichFeatures: ResponsePayload {
    let settings: ImmichSettings
    let application: Accounts.Application

    static let fields = ResponseFields<Self>("ImmichFeatures", furtherMembers: \.settings.features) {
        Field("oauth", \.offersPages)
        member("oauthAutoLaunch")
        Field("passwordLogin") { $0.settings.offersPasswords && $0.application.providers.admitsPasswords }
        Field("configFile") { _ in true }
        Field("email", \.application.providers.admitsPasswords)
        member("trash")
        member("search")
        member("smartSearch")
        member("facialRecognition")
        member("duplicateDetection")
        member("importFaces")
        member("map")
        member("reverseGeocoding")
        member("sidecar")
        member("ocr")
    }

    /// Whether the app's button leads to pages, which a provider that is switched off does not have.
    private var offersPages: Bool {
        guard let name = settings.provider else { return false }
        return name.hasSameBytes(as: OwnClient.hostedProvider)
            || application.providers.redirecting.contains { $0.name.hasSameBytes(as: name) }
    }

    private static func member(_ name: String) -> Field<Self> {
        Field(name, as: Bool.schema) { $0.settings.features[name] ?? .bool(false) }
    }
}
