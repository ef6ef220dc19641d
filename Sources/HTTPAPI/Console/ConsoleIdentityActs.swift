internal import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

/// The one act of the console that the admin API does not have: a person lets their roles count when they sign in with
/// another identity of their account.
struct ConsoleIdentityActs: Sendable {
    /// The path below `/console/{app}`.
    static let path = "/you/identities/{identity}/admit"

    let console: ConsoleServices

    var admit: Operation<Void, Response> {
        Operation("console.identities.admit", limits: .administration) { context, _ in
            switch try await ConsoleGuard(console: console).enter(context) {
            case .refused(let response): response
            case .visit(let visit): try await admit(in: visit)
            }
        }
    }

    /// - Throws: `AdministrationError.notFound` for an identity that the person's account does not have.
    private func admit(in visit: ConsoleVisit) async throws -> Response {
        let (session, page) = (visit.session, visit.base + ConsolePlaces.you.path)
        guard session.proofAge <= visit.settings.rules.stepUp else {
            return try await ConsoleGuard(console: console).askForProof(session, returningTo: page, visit.context)
        }
        let identities = try await console.sessions.identities(in: session, home: visit.home)
        guard let identity = identities.first(where: { $0.id == UUID(uuidString: visit["identity"]) }) else {
            throw AdministrationError.notFound("identity")
        }
        _ = try await console.sessions.admit(identity.id, in: session, home: visit.home)
        var response = Response.seeOther(page)
        response.headers.append(
            try console.saying("you.admit", in: visit.session, settings: visit.settings, home: visit.home))
        return response
    }
}
