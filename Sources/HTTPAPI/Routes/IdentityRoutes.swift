internal import Accounts
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ProviderKit

/// The identities of an account: listing, linking, changing and removing them, and authenticating anew.
///
/// `{identity}` is a provider's name where one is linked, and an identity's id where one is there.
struct IdentityRoutes {
    let useCases: UseCases

    var endpoints: [Endpoint] {
        [list, link, authorize, reauthenticate, changeAddress, verifyAddress, remove]
    }

    private var list: Endpoint {
        .get("/auth/identities", "The account's identities", access: .bearer, answers: IdentityList.self) { context in
            IdentityList(
                identities: try await useCases.identities.list(of: context.principal).map(IdentityPayload.init))
        }
    }

    private var link: Endpoint {
        Endpoint(
            method: .post, path: base + "/auth/identities/{identity}",
            summary: "Links an identity of that provider", access: .recent, body: ProofBody.self, limit: .register,
            limitedProvider: { parameters, body in
                Self.hasPassword(body) ? nil : parameters.get("identity")
            },
            isLimited: Self.hasPassword, hashesPassword: Self.hasPassword, admitsFormerGuests: true,
            answer: .init(status: .ok, body: SessionResponse.self, description: "A session of the account"),
            otherAnswers: [
                .init(
                    status: .accepted, body: RegistrationResponse.self,
                    description: "An address with a password: a token is mailed that links it")
            ],
            errors: [
                .identityInUse, .secondProofRequired, .invalidCredentials, .invalidState, .providerDisabled,
                .unsupportedProvider, .accountDisabled, .accountDeleted, .missingEmailOrPassword, .tooWeakPassword,
                .providerUnavailable,
            ]
        ) { context, buffer in
            let principal = try context.principal
            let reader = try ProofReader(buffer, of: context)
            let configured = try principal.application.providers.named(context.identity)
            let onConflict = reader.fields.onConflict ?? .keep
            switch try await reader.read(for: configured) {
            case .presented(let proof):
                return .json(
                    SessionResponse(
                        try await useCases.linking.link(
                            proof, of: configured, onConflict: onConflict, by: principal, from: context.client)))
            case .password(let email, let password):
                let address = try await useCases.passwordLinking.begin(
                    typed: email, password: password, with: configured, onConflict: onConflict, by: principal,
                    from: context.client)
                return .json(
                    RegistrationResponse(
                        message: "A mail with a link that confirms the address is on its way", email: address.value),
                    status: .accepted)
            }
        }
    }

    private var authorize: Endpoint {
        .post(
            "/auth/identities/{identity}/authorize",
            "Where a browser goes to link an identity of that provider to this session's account", access: .recent,
            limit: .redirect, takes: AuthorizationBody.self, answers: AuthorizationRedirectResponse.self,
            errors: [.unauthorizedRequestOrigin, .unsupportedProvider, .providerDisabled, .providerUnavailable]
        ) { context, body in
            let principal = try context.principal
            let redirect = try await useCases.redirects.begin(
                body.request, with: principal.application.providers.named(context.identity), by: principal,
                linking: true,
                in: principal.application)
            return AuthorizationRedirectResponse(url: redirect.url, state: redirect.state)
        }
    }

    private var reauthenticate: Endpoint {
        Endpoint(
            method: .post, path: base + "/auth/reauthenticate",
            summary: "Opens a session with a fresh proof of one of the account's own identities", access: .bearer,
            body: NamedProofBody.self, limit: .login,
            limitedProvider: { _, body in Self.hasPassword(body) ? nil : Self.fields(body)?.provider },
            isLimited: Self.hasPassword, hashesPassword: Self.hasPassword,
            answer: .init(status: .ok, body: SessionResponse.self, description: "A session of the account"),
            errors: [
                .invalidCredentials, .invalidState, .unverifiedIdentity, .identityTemporarilyLocked, .providerDisabled,
                .unsupportedProvider, .providerUnavailable, .tokenTooOld, .secondProofRequired,
                .missingEmailOrPassword,
            ]
        ) { context, buffer in
            let principal = try context.principal
            let reader = try ProofReader(buffer, of: context)
            guard let name = reader.fields.provider else { throw AccountsError.missingParameter("provider") }
            let configured = try principal.application.providers.named(name)
            let signedIn: SignedIn
            switch try await reader.read(for: configured) {
            case .presented(let proof):
                signedIn = try await useCases.linking.reauthenticate(
                    with: proof, of: configured, by: principal, from: context.client)
            case .password(let email, let password):
                signedIn = try await useCases.passwordSignIn.signIn(
                    typed: email, password: password, by: principal, from: context.client, in: principal.application)
            }
            return .json(SessionResponse(signedIn))
        }
    }

    private var changeAddress: Endpoint {
        .post(
            "/auth/identities/{identity}/address", "Sends a code to a new address of the identity", access: .recent,
            limit: .otpClient, takes: AddressBody.self, answers: SentCodeResponse.self, status: .accepted,
            errors: [.identityNotFound, .rateLimited, .providerDisabled]
        ) { context, body in
            SentCodeResponse(
                try await useCases.addressChange.begin(
                    of: context.identityID, typed: { $0 == "phone" ? body.phone : body.email },
                    from: context.client, by: context.principal))
        }
    }

    private var verifyAddress: Endpoint {
        .post(
            "/auth/identities/{identity}/address/verify", "Gives the identity the address that the code was sent to",
            access: .bearer, takes: OneTimeCodeBody.self, answers: IdentityPayload.self,
            errors: [.identityNotFound, .invalidCredentials, .identityInUse, .accountDeleted, .accountDisabled]
        ) { context, body in
            IdentityPayload(
                try await useCases.addressChange.complete(
                    of: context.identityID, with: body.presented, by: context.principal, from: context.client))
        }
    }

    private var remove: Endpoint {
        Endpoint(
            method: .delete, path: base + "/auth/identities/{identity}",
            summary: "Removes an identity, or with the last one the account; `current` is the one of this session",
            access: .recent,
            answer: .init(
                status: .ok, body: IdentityRemovalResponse.self, description: "Whether the account is being deleted",
                headers: ["Location": "Where anybody who has it can see how far the deletion is."]),
            errors: [.identityNotFound, .lastUsableIdentity]
        ) { context, _ in
            let id = context.identity.hasSameBytes(as: "current") ? nil : try context.identityID
            switch try await useCases.identities.remove(id, by: context.principal) {
            case .removed:
                return .json(IdentityRemovalResponse(accountDeleted: false))
            case .accountDeleted(let receipt):
                return .json(
                    IdentityRemovalResponse(accountDeleted: true),
                    headers: [.location: "\(context.pathPrefix)\(base)/erasures/\(receipt.text)"])
            }
        }
    }

    /// Passwords cost a hash each: such bodies count, whatever else is wrong with them.
    @Sendable private static func hasPassword(_ buffer: ByteBuffer) -> Bool {
        fields(buffer)?.password != nil
    }

    private static func fields(_ buffer: ByteBuffer) -> ProofBody? {
        try? RequestBody.decode(ProofBody.self, from: buffer)
    }
}

extension OperationContext {
    fileprivate var identity: String { parameters.get("identity") ?? "" }

    /// - Throws: `AccountsError.identityNotFound` for what is no id.
    fileprivate var identityID: UUID {
        get throws {
            guard let id = UUID(uuidString: identity) else { throw AccountsError.identityNotFound }
            return id
        }
    }
}
