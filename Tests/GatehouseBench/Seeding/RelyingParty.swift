import Accounts
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import ProviderKit
import Storage

/// The client of the rows about OpenID Connect, and the browsers of people who use it.
///
/// Cookies and codes follow from numbers, so that pgbench can name them too.
struct RelyingParty: Sendable {
    static let client = "bench"
    static let secret = "a secret of the client bench, 32 bytes"
    static let redirectURI = "https://bench.example/cb"
    static let verifier = "verifier-of-the-client-bench-which-is-long-enough"
    static let challenge = CodeChallenge.s256(of: verifier)

    let stage: Stage
    private var application: Application { stage.es256 }

    init(_ stage: Stage) { self.stage = stage }

    func url(_ path: String) -> String { stage.gatehouse.url(stage.path(of: application) + path) }

    /// The secret with a number: 32 bytes in base64url.
    static func text(_ number: Int64) -> String {
        Digest.base64URL([UInt8](repeating: 0, count: 24) + withUnsafeBytes(of: number.bigEndian) { Array($0) })
    }

    /// SQL for the hash of the secret with a number.
    static func hash(_ number: String) -> String { "sha256(decode(lpad(to_hex(\(number)::int8), 64, '0'), 'hex'))" }

    /// The parameters of the client's authentication in a form.
    static let authentication =
        "client_id=\(client)&client_secret="
        + secret.replacing(" ", with: "+")
        .replacing(",", with: "%2C")

    static func redemption(of code: Int64) -> String {
        "\(authentication)&grant_type=authorization_code&code=\(text(code))&code_verifier=\(verifier)"
            + "&redirect_uri=https%3A%2F%2Fbench.example%2Fcb"
    }

    /// Tokens of new client sessions, one for each browser.
    func tokens(_ member: String, scopes: [String]) async throws -> [String] {
        let browsers = try await stage.seeder.openBrowsers(in: application)
        let codes = try await stage.seeder.makeCodes(browsers.count, for: browsers, scopes: scopes, in: application)
        return try await withThrowingTaskGroup(of: String.self) { group in
            for code in codes {
                group.addTask {
                    var request = HTTPClientRequest(url: url("/oauth/token"))
                    request.method = .POST
                    request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
                    request.body = .bytes(Array(Self.redemption(of: code).utf8))
                    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
                    let body = try await response.body.collect(upTo: 1 << 16)
                    let answer = try JSONDecoder().decode(JSONValue.self, from: Data(body.readableBytesView))
                    guard let token = answer[member].string else { throw BenchError("\(answer)") }
                    return token
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension Seeder {
    private static let insertBrowsers = Statement(
        .write,
        """
        INSERT INTO sessions (application_id, id, uid, identity_id, methods, expires_at, kind, browser_hash, last_used_at)
        SELECT $1, gen_random_uuid(), uid, id, '{pwd}', now() + interval '1 day', 'browser',
               sha256(decode(lpad(to_hex($2::int8 - 1 + row_number() OVER ()), 64, '0'), 'hex')), now()
          FROM identities
         WHERE application_id = $1 AND provider = 'email' AND provider_uid LIKE 'person%@bench.example'
        """)

    private static let insertCodes = Statement(
        .write,
        """
        INSERT INTO authorization_codes
               (application_id, hash, client_id, redirect_uri, code_challenge, issuer, scopes, resources, claims,
                token_claims, uid, session_id, expires_at)
        SELECT $1, sha256(decode(lpad(to_hex(n), 64, '0'), 'hex')), $6, $7, $8, $9, $10::text[], '{}', '{}', '{}',
               s.uid, s.id, now() + interval '1 hour'
          FROM generate_series($2::int8, $3::int8) AS n
          JOIN sessions s ON s.application_id = $1 AND s.kind = 'browser'
           AND s.browser_hash = sha256(decode(lpad(to_hex($4::int8 + n % $5::int8), 64, '0'), 'hex'))
        """)

    /// Signs each person of the application in, in a browser, and returns the numbers of the cookies.
    func openBrowsers(in application: Application) async throws -> ClosedRange<Int64> {
        let numbers = Owners.newNumbers(Stage.peopleOfEach)
        let binds: [Bind] = [
            .application(application.id), .int(Int(numbers.lowerBound)),
        ]
        guard try await database.execute(Self.insertBrowsers, binds).affected == numbers.count else {
            throw BenchError("not everybody has a session")
        }
        return numbers
    }

    /// Stores codes, which are distributed evenly over the browsers, and returns their numbers.
    func makeCodes(
        _ count: Int, for browsers: ClosedRange<Int64>, scopes: [String], in application: Application
    ) async throws -> ClosedRange<Int64> {
        let numbers = Owners.newNumbers(count)
        // A statement at a time has a limit, which 100,000 rows could reach.
        for start in stride(from: numbers.lowerBound, through: numbers.upperBound, by: 10_000) {
            let end = min(numbers.upperBound, start + 9999)
            let binds: [Bind] = [
                .application(application.id), .int(Int(start)), .int(Int(end)), .int(Int(browsers.lowerBound)),
                .int(browsers.count), .text(RelyingParty.client), .text(RelyingParty.redirectURI),
                .text(RelyingParty.challenge), .text(application.issuer), .text("{\(scopes.joined(separator: ","))}"),
            ]
            guard try await database.execute(Self.insertCodes, binds).affected == Int(end - start + 1) else {
                throw BenchError("codes are missing")
            }
        }
        return numbers
    }
}
