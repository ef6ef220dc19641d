internal import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

extension ConsoleOperations {
    /// Lets a person's roles count in sessions of another identity of their account.
    ///
    /// The admin API has no such operation, because only the person may decide it, with a fresh proof.
    var admitIdentity: Operation<Void, Response> {
        operation("identities.admit") { request in
            let (session, page) = (request.session, request.base + ConsolePlaces.you.path)
            guard session.proofAge <= request.settings.rules.stepUp else {
                return try await entrance.askForProof(session, returningTo: request.path, request.context)
            }
            let identities = try await console.sessions.identities(in: session, home: request.home)
            guard let identity = identities.first(where: { $0.id == UUID(uuidString: request["identity"]) }) else {
                throw AdministrationError.notFound("identity")
            }
            _ = try await console.sessions.admit(identity.id, in: session, home: request.home)
            var response = Response.seeOther(page)
            response.headers.append(
                try console.saying("you.admit", in: session, settings: request.settings, home: request.home))
            return response
        }
    }
}
