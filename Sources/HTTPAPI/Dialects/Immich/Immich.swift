internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// The REST shape of apps of Immich: those of its document, and the mobile app of immich-app/immich.
///
/// `ImmichServer` answers what an app asks before anybody has signed in. `ImmichSignIn` signs in, and `ImmichAccount` and
/// `ImmichPins` serve the account that is signed in. `ImmichEnvelope` writes refusals.
enum Immich: Dialect {
    static let name = "immich"
    static let bases = ["/.well-known/immich", "/api/auth/", "/api/oauth/", "/api/users/me", "/api/server/"]
    static let credentials: [CredentialSource] = [
        .authorization, .header(.immichUserToken), .header(.immichSessionToken),
    ]
    static let requestFields: [HTTPField.Name] = [.immichUserToken, .immichSessionToken, .deviceModel, .deviceType]

    static let errorSchema = ImmichEnvelope.schema

    /// The back end serves its own calls below `/api/server/` and `/api/users/`, and its version unless that is
    /// configured.
    static func proxiedPaths(in settings: DialectSettings) -> [String] {
        ["/.well-known/immich", "/api/auth/*", "/api/oauth/*", "/api/users/me", "/api/server/ping"]
            + (settings.immich?.version == nil ? [] : ["/api/server/version"])
            + ["/api/server/config", "/api/server/features"]
    }

    static func renewal(in settings: DialectSettings) -> Renewal? { settings.immich?.renewal }

    static let writesError: ErrorWriter = { error, _, context in
        let known = APIError(any: error) ?? APIError(.internal, "Something went wrong")
        let application = context.scope?.application
        let button = application?.dialects.immich?.buttonText
        let body = ImmichEnvelope(
            known, requestID: context.id, button: button,
            opensOwnPages: application?.dialects.usesOwnPages(in: name) == true,
            restoring: application?.restorePlace(in: Self.self, button: button))
        return known.response(body, status: known.status)
    }

    static func endpoints(_ operations: Operations) -> [Endpoint] {
        let endpoints =
            ImmichServer.endpoints + ImmichSignIn(operations: operations).endpoints
            + ImmichAccount(operations: operations).endpoints + ImmichPins(operations: operations.pins).endpoints
        return endpoints.map { $0.spoken(in: self) }
    }

    /// The longest stored name of a device, in bytes.
    private static let longestDevice = 256

    /// What the app says about its device, as in "iPhone 14 Pro, iOS"; `nil` if it says nothing.
    static func device(in headers: HTTPFields) -> String? {
        let words = [HTTPField.Name.deviceModel, .deviceType].compactMap { headers[$0] }.filter { !$0.isEmpty }
        guard !words.isEmpty else { return nil }
        var device = words.joined(separator: ", ")
        while device.utf8.count > longestDevice { device.unicodeScalars.removeLast() }
        return device
    }
}

extension HTTPField.Name {
    // The names are tokens, as RFC 9110 requires.
    static let deviceModel = Self("deviceModel") ?? .userAgent
    static let deviceType = Self("deviceType") ?? .userAgent
    static let immichUserToken = Self("x-immich-user-token") ?? .authorization
    static let immichSessionToken = Self("x-immich-session-token") ?? .authorization
}

extension IncomingRequest {
    var application: Accounts.Application? { context.scope?.application.application }

    /// - Throws: 404 if the application does not serve apps of Immich.
    var immich: ImmichSettings {
        get throws {
            guard let settings = context.scope?.application.dialects.immich else { throw APIError.nothingHere }
            return settings
        }
    }
}

extension OperationContext {
    /// - Throws: 404 if the application does not serve apps of Immich.
    var immich: ImmichSettings { get throws { try request.immich } }

    /// The provider whose id of the person apps show.
    var immichProvider: String? { scope.application.dialects.immich?.provider }
}
