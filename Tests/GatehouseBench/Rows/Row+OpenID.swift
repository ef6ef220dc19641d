import Accounts
import Foundation
import Postgres
import ProviderKit
import Storage

extension Row {
    private static let connections = 64
    private static let issuer = "\(Stage.publicURL)/apps/es256"

    /// Measures authorization requests of browsers that are signed in, of which nothing is asked.
    static func authorize(on stage: Stage) throws -> Row {
        let party = RelyingParty(stage)
        let query =
            "response_type=code&client_id=\(RelyingParty.client)&redirect_uri=https%3A%2F%2Fbench.example%2Fcb"
            + "&scope=openid&state=s&code_challenge=\(RelyingParty.challenge)&code_challenge_method=S256"
        let gatehouse = Contender(name: "Gatehouse", seconds: 4) {
            let cookies = try await stage.seeder.openBrowsers(in: stage.es256).map {
                "gatehouse-sso-es256=\(RelyingParty.text($0))"
            }
            let load = try stage.wrk(.browsers, connections: connections, lines: cookies)
            return { seconds in
                let before = try await stage.seeder.codeCount()
                let count = try await load.run(party.url("/oauth/authorize?\(query)"), seconds: seconds)
                // A refusal is a redirect too.
                guard Double(try await stage.seeder.codeCount() - before) >= count.perSecond else {
                    throw BenchError("authorize stores no codes")
                }
                return count
            }
        }
        let pgbench = try PgbenchOpenID(
            SQLStore.browserSessions,
            [
                2: RelyingParty.hash(":browser"), 3: "'\(RelyingParty.client)'::text", 4: "'\(issuer)'::text",
                5: "NULL::text", 6: RelyingParty.hash(":code"), 7: "'\(RelyingParty.redirectURI)'::text",
                8: "'\(RelyingParty.challenge)'::text", 9: "NULL::text", 10: "'{openid}'::text[]",
                11: "'{}'::text[]", 12: "'{}'::text[]", 13: "'{}'::text[]", 14: "'60 seconds'::interval",
                15: "NULL::text", 16: "false",
            ], named: "authorize", codes: 0, stage: stage)
        return Row(
            name: "authorize, signed in", aim: 0.7, gatehouse: gatehouse, limits: [pgbench.contender(seconds: 3)],
            processes: stage.processes)
    }

    /// Measures redemptions of codes for an access token and an ID token.
    static func code(on stage: Stage) throws -> Row {
        let party = RelyingParty(stage)
        let gatehouse = Contender(name: "Gatehouse", seconds: 3) {
            let browsers = try await stage.seeder.openBrowsers(in: stage.es256)
            let codes = try await stage.seeder.makeCodes(30_000, for: browsers, scopes: ["openid"], in: stage.es256)
            let load = try stage.wrk(
                .formsOnce, connections: connections, lines: codes.map(RelyingParty.redemption(of:)))
            return { seconds in try await load.run(party.url("/oauth/token"), seconds: seconds) }
        }
        let pgbench = try PgbenchOpenID(
            SQLStore.useCode,
            [
                2: RelyingParty.hash(":code"), 3: "'{}'::text[]", 4: "NULL::text", 5: "'{\"\"}'::text[]",
                6: "'{openid}'::text[]", 7: "false", 8: "'{}'::text[]", 9: "'{}'::text[]", 10: "true",
                11: "'\(RelyingParty.client)'::text", 12: "'\(issuer)'::text",
                13: "'\(RelyingParty.redirectURI)'::text", 14: "'\(RelyingParty.challenge)'::text",
                15: "gen_random_uuid()", 16: "'30 days'::interval", 17: RelyingParty.hash("-:code"),
                18: "'30 days'::interval", 19: "'2 seconds'::interval",
            ], named: "code", codes: 100_000, stage: stage)
        return Row(
            name: "code redemption, ES256", aim: 0.7, gatehouse: gatehouse,
            limits: [.es256Signing(2, seconds: 1), pgbench.contender(seconds: 3)], processes: stage.processes)
    }

    /// Measures refreshes of a client without an ID token, so that both calls sign once.
    static func clientRefresh(on stage: Stage) throws -> Row {
        let party = RelyingParty(stage)
        let gatehouse = Contender(name: "Gatehouse", seconds: 5) {
            let tokens = try await party.tokens("refresh_token", scopes: ["email", "offline_access"])
            let fields = "\(RelyingParty.authentication)&grant_type=refresh_token"
            let load = try stage.wrk(.refreshForm(fields), connections: connections, lines: tokens)
            return { seconds in try await load.run(party.url("/oauth/token"), seconds: seconds) }
        }
        return Row(
            name: "refresh of a client, ES256", aim: 0.9, gatehouse: gatehouse,
            limits: [refreshes("POST /auth/refresh", on: stage, application: stage.es256)], processes: stage.processes)
    }

    static func userInfo(on stage: Stage) throws -> Row {
        let party = RelyingParty(stage)
        let gatehouse = Contender(name: "Gatehouse", seconds: 4) {
            let tokens = try await party.tokens("access_token", scopes: ["openid", "email"])
            let load = try stage.wrk(.get, connections: connections, lines: tokens)
            return { seconds in try await load.run(party.url("/oauth/userinfo"), seconds: seconds) }
        }
        return Row(
            name: "userinfo", aim: 0.9, gatehouse: gatehouse, limits: [try me(party)], processes: stage.processes)
    }

    /// Measures introspections of access tokens, which need no statement.
    static func introspection(on stage: Stage) throws -> Row {
        let party = RelyingParty(stage)
        let gatehouse = Contender(name: "Gatehouse", seconds: 4) {
            let tokens = try await party.tokens("access_token", scopes: ["openid", "email"])
            let load = try stage.wrk(
                .forms, connections: connections, lines: tokens.map { "\(RelyingParty.authentication)&token=\($0)" })
            return { seconds in try await load.run(party.url("/oauth/introspect"), seconds: seconds) }
        }
        return Row(
            name: "introspection", aim: 1.2, gatehouse: gatehouse, limits: [try me(party)], processes: stage.processes)
    }

    /// `GET /auth/me` of the same application, with which these calls are compared.
    private static func me(_ party: RelyingParty) throws -> Contender {
        let people = party.stage.people(of: party.stage.es256)
        let load = try party.stage.wrk(.get, connections: connections, lines: people.map(\.accessToken))
        return .wrk(load, at: party.url("/api/v1/auth/me"), name: "GET /auth/me", seconds: 4)
    }
}
