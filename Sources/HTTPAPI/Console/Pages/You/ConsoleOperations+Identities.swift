internal import Administration
internal import Foundation
internal import Hummingbird
internal import ProviderKit

extension ConsoleOperations {
    /// Lets a person's roles count in sessions of another identity of their account.
    ///
    /// The admin API has no such operation, because only the person may decide it, with a fresh proof.
    var admitIdentity: Operation<Void, Response> {
        operation("identities.admit") { visit in
            let (session, page) = (visit.session, visit.base + ConsolePlaces.you.path)
            guard session.proofAge <= visit.settings.rules.stepUp else {
                return try await entrance.askForProof(session, returningTo: visit.path, visit.context)
            }
            let identities = try await console.sessions.identities(in: session, home: visit.home)
            guard let identity = identities.first(where: { $0.id == UUID(uuidString: visit["identity"]) }) else {
                throw AdministrationError.notFound("identity")
            }
            _ = try await console.sessions.admit(identity.id, in: session, home: visit.home)
            var response = Response.seeOther(page)
            response.headers.append(
                try console.saying("you.admit", in: session, settings: visit.settings, home: visit.home))
            return response
        }
    }
}
