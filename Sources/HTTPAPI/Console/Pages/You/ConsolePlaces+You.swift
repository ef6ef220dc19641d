internal import Accounts
internal import Administration
internal import Console
internal import Foundation
internal import ProviderKit

extension ConsolePlaces {
    /// The path of the form that lets the person's roles count in sessions of an identity.
    static let admissionPath = "/you/identities/{identity}/admit"

    /// The person's own page: their roles, their session, and the identities with which the roles count.
    static let you = ConsolePlace("/you") { request in
        let session = request.session
        let identities = try await request.console.sessions.identities(in: session, home: request.home)
        return ConsolePage(
            "you", title: "You",
            [
                "uid": .string(session.uid.text), "provider": .string(session.provider),
                "methods": .array(session.methods.map { .string($0) }),
                "provenAt": .string(Timestamp(Date.now.addingTimeInterval(-session.proofAge.inSeconds)).text),
                "endsAt": .string(Timestamp(session.expiresAt).text),
                "grants": .array(session.grants.map { shown($0, in: request) }),
                "identities": .array(identities.map { shown($0, in: request) }),
            ])
    }

    /// The same page at the path of its forms, to which a proof leads back.
    static let admission = ConsolePlace(admissionPath, isOfForm: true, build: you.build)

    private static func shown(_ grant: ConsoleSession.Grant, in request: ConsoleRequest) -> JSONValue {
        let applications = request.context.scope.site.applications.values.map(\.application)
        let name = grant.application.map { id in applications.first { $0.id == id }?.name ?? "a former application" }
        return [
            "role": .string(grant.role.rawValue), "place": .string(name ?? "all applications"),
            "counts": .bool(grant.counts),
        ]
    }

    private static func shown(_ identity: ConsoleIdentity, in request: ConsoleRequest) -> JSONValue {
        let path = request.base + admissionPath.replacing("{identity}", with: identity.id.text)
        return [
            "id": .string(identity.id.text), "with": .string(identity.provider),
            "name": identity.name.map { .string($0) } ?? false,
            "createdAt": .string(Timestamp(identity.createdAt).text),
            "lastUsedAt": identity.lastUsedAt.map { .string(Timestamp($0).text) } ?? false,
            "isPresent": .bool(identity.id == request.session.identity), "counts": .bool(identity.counts),
            "action": .string(path), "csrf": .string(request.formToken(for: path)),
        ]
    }
}
