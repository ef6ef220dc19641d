internal import Accounts
internal import OpenID
internal import ProviderKit

/// Registers, shows and deletes clients that are not configured.
struct RegistrationOperations: Sendable {
    typealias Call = Operation<ClientRegistrationRequest, [String: JSONValue]?>

    let registration: ClientRegistration

    var register: Call {
        Call("oauth.register", limits: .client(.clientRegistration)) { context, call in
            try await registration.register(
                call.members, token: call.token, from: context.client, at: try context.issuer)
        }
    }

    var read: Call {
        Call("oauth.readRegistration", limits: .client(.clientRegistration)) { context, call in
            try await registration.read(call.client, token: call.token, at: try context.issuer)
        }
    }

    var delete: Call {
        Call("oauth.deleteRegistration", limits: .client(.clientRegistration)) { context, call in
            try await registration.delete(call.client, token: call.token, at: try context.issuer)
            return nil
        }
    }

    var update: Call {
        Call("oauth.updateRegistration", limits: .client(.clientRegistration)) { context, call in
            try await registration.refuseUpdate(of: call.client, token: call.token, at: try context.issuer)
            return nil
        }
    }
}
