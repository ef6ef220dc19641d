internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// The REST shape of apps of Immich: those of its document, and the mobile app of immich-app/immich.
///
/// `ImmichServer` answers what an app asks before anybody has signed in. `ImmichSignIn` signs in, and `ImmichAccount` and
/// `ImmichPins` serve the account that is signed in. `ImmichEnvelope` writes refusals.
enum Immich {
    static let name = "immich"

    static func endpoints(_ operations: Operations) -> [Endpoint] {
        ImmichServer.endpoints + ImmichSignIn(operations: operations).endpoints
            + ImmichAccount(operations: operations).endpoints + ImmichPins(operations: operations.pins).endpoints
    }

    /// What the app says about its device, as in "iPhone 14 Pro, iOS"; `nil` if it says nothing.
    static func device(in headers: HTTPFields) -> String? {
        let words = [HTTPField.Name.deviceModel, .deviceType].compactMap { headers[$0] }.filter { !$0.isEmpty }
        return words.isEmpty ? nil : words.joined(separator: ", ")
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
            guard let settings = context.scope?.application.immich else { throw APIError.nothingHere }
            return settings
        }
    }
}

extension OperationContext {
    /// - Throws: 404 if the application does not serve apps of Immich.
    var immich: ImmichSettings {
        get throws {
            guard let settings = scope.application.immich else { throw APIError.nothingHere }
            return settings
        }
    }

    /// The provider whose id of the person apps show.
    @Sendable static func immichProvider(_ context: OperationContext) -> String? {
        context.scope.application.immich?.provider
    }
}

extension ServedApplication {
    var immich: ImmichSettings? { nil }
}
