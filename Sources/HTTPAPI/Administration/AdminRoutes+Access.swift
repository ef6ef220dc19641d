internal import Accounts
internal import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

extension AdminRoutes {
    /// What the caller may do, the service keys, and the grants of people.
    var access: [Endpoint] {
        let operations = AccessOperations(useCases: useCases)
        return [
            operations.me.at(.get, "/me", "Who calls, and what they may do", takes: .nothing, returns: .json),
            operations.keys.at(
                .get, "/service-keys", "The application's service keys, the newest first", takes: .list(),
                returns: .json { ListPayload($0) }),
            operations.makeKey.at(
                .post, "/service-keys", "Makes a service key", takes: .json,
                returns: .json(status: .created) { ServiceKeyWithSecret(key: $0.key, secret: $0.text) }),
            operations.rotateKey.at(
                .post, "/service-keys/{key}/rotate", "Replaces the secret of a service key",
                takes: .named(Act<RotationBody>.self, by: "key"),
                returns: .json { ServiceKeyWithSecret(key: $0.key, secret: $0.text) }),
            operations.revokeKey.at(
                .post, "/service-keys/{key}/revoke", "Revokes a service key",
                takes: .named(Act<NoFields>.self, by: "key"),
                returns: .json),
            operations.grants.at(
                .get, "/admins", "The people who have roles for this application or for all", takes: .list(),
                returns: .json { ListPayload($0) }),
            operations.inviteAdmin.at(
                .post, "/admins/invitations",
                "Makes a link with which a person becomes an administrator of this application; nothing is sent",
                takes: .json,
                returns: .json(status: .created) { ShownLinkResponse(link: $0.link, expiresAt: $0.expiresAt) }),
            operations.grant.at(
                .put, "/admins/{uid}", "Grants a role for this application", takes: .account(Act<GrantBody>.self),
                returns: .json { ListPayload($0) }),
            operations.revokeGrant.at(
                .post, "/admins/{uid}/revoke", "Revokes the role for this application",
                takes: .account(Act<RevocationBody>.self), returns: .json { ListPayload($0) }),
        ]
    }
}

struct AccessOperations {
    let useCases: AdministrationUseCases

    var me: AdminOperation<Void, Administrator> {
        AdminOperation("me", scope: nil) { request, _ in request.administrator }
    }

    var keys: AdminOperation<AdminQuery, Page<ServiceKey>> {
        AdminOperation("serviceKeys.list", scope: .writeAdmins) { request, query in
            let keys = try await useCases.keys.list(of: request.application)
            return try request.page(of: keys, asked: query, in: "service-keys", id: \.id)
        }
    }

    var makeKey: AdminOperation<Act<ServiceKeyBody>, (key: ServiceKey, text: String)> {
        AdminOperation("serviceKeys.make", scope: .writeAdmins, needsProof: true) { request, input in
            let scopes = Set(input.body.scopes)
            for scope in scopes.sorted() { try request.administrator.require(scope) }
            return try await useCases.keys.make(
                named: input.body.name, scopes: scopes, clients: input.body.allow ?? [],
                lifetime: .seconds(input.body.expiresIn), longest: request.settings.longestKeyLifetime,
                by: request.actWithoutNote(input), in: request.application)
        }
    }

    var rotateKey: AdminOperation<(name: String, body: Act<RotationBody>), (key: ServiceKey, text: String)> {
        AdminOperation(
            "serviceKeys.rotate", scope: .writeAdmins, hasOwnCapacity: true, needsProof: true,
            errors: [.notFound, .wrongState]
        ) { request, input in
            let act = try request.actWithoutNote(input.body)
            // Read before the call waits for its turn, so that of calls at the same time one succeeds.
            let seen = try await useCases.keys.secretHash(
                of: input.name, marked: input.body.body.seen, in: request.application)
            return try await request.inTurn {
                try await useCases.keys.rotate(
                    input.name, replacing: seen, overlap: .seconds(input.body.body.overlap ?? 0), by: act,
                    in: request.application)
            }
        }
    }

    var revokeKey: AdminOperation<(name: String, body: Act<NoFields>), ServiceKey> {
        AdminOperation("serviceKeys.revoke", scope: .writeAdmins, errors: [.notFound]) { request, input in
            try await useCases.keys.revoke(input.name, by: request.actWithoutNote(input.body), in: request.application)
        }
    }

    var grants: AdminOperation<AdminQuery, Page<AdminGrant>> {
        AdminOperation("admins.list", scope: .writeAdmins) { request, query in
            let grants = try await useCases.grants(home: request.settings.home).list(on: request.application)
            return try request.page(of: grants, asked: query, in: "admins") { grant in
                "\(grant.uid) \(grant.application.map { "\($0)" } ?? "all")"
            }
        }
    }

    var inviteAdmin: AdminOperation<Act<AdminInvitationBody>, (link: String, expiresAt: Date)> {
        AdminOperation("admins.invite", scope: .writeAdmins, needsProof: true) { request, input in
            let settings = try request.settings
            guard let console = settings.console else { throw APIError.nothingHere }
            try request.requireOwnApplication(input.body.on)
            for scope in input.body.role.scopes.sorted() { try request.administrator.require(scope) }
            let invitation = try NewAdminInvitation(
                role: input.body.role, application: request.application, email: input.body.email,
                lifetime: input.body.expiresIn.map { .seconds($0) }, inviter: request.administrator.person?.uid)
            return try await useCases.adminInvitations(home: settings.home).make(
                invitation, at: console.url, by: request.actWithoutNote(input))
        }
    }

    var grant: AdminOperation<(uid: UUID, body: Act<GrantBody>), [AdminGrant]> {
        AdminOperation("admins.grant", scope: .writeAdmins, needsProof: true, errors: [.accountNotFound, .lastOwner]) {
            request, input in
            let role = input.body.body.role
            try request.requireOwnApplication(input.body.body.on)
            for scope in role.scopes.sorted() { try request.administrator.require(scope) }
            let grants = useCases.grants(home: try request.settings.home)
            try await grants.grant(
                role, to: input.uid, on: request.application, by: request.actWithoutNote(input.body))
            return try await grants.list(on: request.application)
        }
    }

    var revokeGrant: AdminOperation<(uid: UUID, body: Act<RevocationBody>), [AdminGrant]> {
        AdminOperation(
            "admins.revoke", scope: .writeAdmins, needsProof: true,
            errors: [.accountNotFound, .confirmationRequired, .lastOwner, .wrongState]
        ) { request, input in
            let act = try request.actWithoutNote(input.body)
            try request.requireOwnApplication(input.body.body.on)
            let home = try request.settings.home
            try await request.require(
                input.body.body.confirm, toBe: "revoke \(input.uid.text)", of: input.uid, in: home)
            let grants = useCases.grants(home: home)
            try await grants.revoke(input.uid, on: request.application, by: act)
            return try await grants.list(on: request.application)
        }
    }
}
