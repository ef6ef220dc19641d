import Accounts
import Foundation
import Passwords

extension Row {
    /// Measures sign-ins on more connections than hashing threads, but few enough that no request is refused for its
    /// wait.
    static func signIn(on stage: Stage) throws -> Row {
        let bodies = stage.people(of: stage.rs256).map(\.signInBody)
        let load = try stage.wrk(.post, connections: Stage.signInConnections, lines: bodies)
        return Row(
            name: "password sign-in", aim: 0.95,
            gatehouse: .wrk(load, at: stage.gatehouse.url("/api/v1/auth/login"), name: "Gatehouse", seconds: 6),
            limits: [.rawArgon2(.standard, seconds: 6)], processes: stage.processes)
    }

    /// Measures sign-ins through a dialect, whose limit is the same sign-in through version 1 of the API.
    static func dialectSignIn(on stage: Stage) throws -> Row {
        let bodies = stage.people(of: stage.rs256).map(\.signInBody)
        func contender(_ name: String, path: String) throws -> Contender {
            let load = try stage.wrk(.post, connections: Stage.signInConnections, lines: bodies)
            return .wrk(load, at: stage.gatehouse.url(path), name: name, seconds: 6)
        }
        return Row(
            name: "password sign-in through a dialect", aim: 0.97,
            gatehouse: try contender("Gatehouse", path: "/api/auth/login"),
            limits: [try contender("Gatehouse, version 1", path: "/api/v1/auth/login")], tailAim: 1.03,
            processes: stage.processes)
    }

    /// Measures first sign-ins.
    ///
    /// Each person signs in once, because more tokens are made than the run uses.
    static func tokenSignIn(on stage: Stage) throws -> Row {
        let url = stage.gatehouse.url("\(stage.path(of: stage.es256))/api/v1/auth/oauth/loopback/token")
        let gatehouse = Contender(name: "Gatehouse", seconds: 4) {
            let bodies = try stage.identityProvider.newPeople(20_000).map(RequestBody.idToken)
            let load = try stage.wrk(.once, connections: 32, lines: bodies)
            return { seconds in try await load.run(url, seconds: seconds) }
        }
        return Row(
            name: "first sign-in by ID token, ES256", aim: 0.7, gatehouse: gatehouse,
            limits: [
                .es256SigningAndVerifying(seconds: 1),
                try PgbenchSignUp(.token, stage: stage, application: stage.es256).contender(seconds: 3),
            ], processes: stage.processes)
    }

    static func anonymous(on stage: Stage) throws -> Row {
        let url = stage.gatehouse.url("\(stage.path(of: stage.es256))/api/v1/auth/anonymous")
        let load = try stage.wrk(.post, connections: 32, lines: [RequestBody.empty])
        return Row(
            name: "anonymous sign-in, ES256", aim: 0.7,
            gatehouse: .wrk(load, at: url, name: "Gatehouse", seconds: 4),
            limits: [
                .es256Signing(seconds: 1),
                try PgbenchSignUp(.guest, stage: stage, application: stage.es256).contender(seconds: 3),
            ], processes: stage.processes)
    }
}
