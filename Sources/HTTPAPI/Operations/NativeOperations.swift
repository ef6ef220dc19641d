internal import Accounts
internal import OpenID
internal import ProviderKit

/// Lets an app of the REST interface sign its account in at a browser that it shows.
struct NativeOperations: Sendable {
    let native: NativeSignIn

    var issue: Operation<Void, NativeSecretResponse> {
        Operation("nativeSecret.issue", access: .bearer, limits: .general, errors: [.tokenTooOld, .notFound]) {
            context, _ in
            NativeSecretResponse(secret: try await native.secret(for: context.principal))
        }
    }
}

/// The value of the cookie `css`, and for how many seconds it can be used.
struct NativeSecretResponse: ResponsePayload {
    let secret: String

    static let fields = ResponseFields<Self>("NativeSecret") {
        Field("css", \.secret)
        Field("expiresIn") { _ in Int(NativeSignIn.lifetime.components.seconds) }
    }
}
