import Accounts
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import ProviderKit
import Testing

@testable import HTTPAPI

/// What dialects make of the errors of version 1 of the API.
struct DialectRefusalTests {
    private static func response(to error: any Error, by write: ErrorWriter) throws -> Response {
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test"))
        let head = HTTPRequest(method: .post, scheme: "https", authority: "localhost", path: "/auth/token")
        let request = Request(head: head, body: .init(buffer: ByteBuffer()))
        return try #require(write(error, request, APIRequestContext(source: source)))
    }

    @Test(arguments: ErrorCode.allCases)
    func `no error of the token call signs people out`(code: ErrorCode) throws {
        let error = APIError(code, "The message", retryAfter: .seconds(3))
        let response = try Self.response(to: error, by: TimeTrackerCall.token.writesError)
        #expect(response.status.code == (code.status == 401 ? 400 : code == .unsupportedProvider ? 403 : code.status))
        #expect(response.headers[.wwwAuthenticate] == nil)
        #expect(response.headers[.cacheControl] == "no-store" && response.headers[.retryAfter] == "3")
    }

    @Test(arguments: [TimeTrackerCall.me, .logout, .other])
    func `an invalid token is 401 at the other calls, but for a session that has ended`(call: TimeTrackerCall) throws {
        let response = try Self.response(to: AccountsError.invalidToken, by: call.writesError)
        #expect(response.status == (call == .logout ? .ok : .unauthorized))
        #expect((response.headers[.wwwAuthenticate] == "Bearer") == (call != .logout))
    }

    @Test(arguments: [
        (ErrorCode.tokenTooOld, "Sign in again to do this."),
        (.unverifiedIdentity, "Confirm your address first: a mail is on its way."),
        (.identityTemporarilyLocked, "Too many tries. Please wait a moment."),
        (.rateLimited, "Too many tries. Please wait a moment."),
        (.providerDisabled, "This way of signing in is switched off."),
        (.unsupportedProvider, "This way of signing in is switched off."),
        (.overloaded, "The server is busy. Please try again."),
        (.providerUnavailable, "The server is busy. Please try again."),
        (.tooWeakPassword, "The message: tooShort"),
        (.accountDeleted, "The message. It can be restored until 2026-01-30T08:00:00.000Z at https://a.test/signin."),
        (.accountDisabled, "The message"),
        (.existingIdentity, "The message"),
        (.identityInUse, "The message"),
        (.secondProofRequired, "The message"),
        (.notFound, "The message"),
    ])
    func `people read words that all dialects share`(code: ErrorCode, words: String) {
        let details: [String: JSONValue] = [
            "reasons": ["tooShort", "common"], "purgeAfter": "2026-01-30T08:00:00.000Z", "restoreToken": "secret",
        ]
        let error = APIError(code, "The message", details: details)
        #expect(error.dialectMessage(restoring: "at https://a.test/signin") == words)
    }

    @Test(arguments: [LinkingRule.providerNoSignUp, .providerLinkOnly, .providerOff])
    func `only a provider that is off is said to be switched off`(rule: LinkingRule) throws {
        let error = try #require(APIError(any: AccountsError.providerDisabled(rule.refusal)))
        let words = rule == .providerOff ? "This way of signing in is switched off." : rule.reason
        #expect(error.dialectMessage(restoring: nil) == words)
    }

    @Test func `without pages the words say only until when an account can be restored`() {
        let error = APIError(
            .accountDeleted, "The message", details: ["purgeAfter": "2026-01-30T08:00:00.000Z"])
        #expect(
            error.dialectMessage(restoring: nil)
                == "The message. It can be restored until 2026-01-30T08:00:00.000Z.")
    }

    @Test(arguments: ["Login with Company", "", nil], [true, false])
    func `a second proof leads to the button of the app if that opens pages`(button: String?, opensOwnPages: Bool) {
        let error = APIError(.secondProofRequired, "The message", details: ["ticket": "secret"])
        let envelope = ImmichEnvelope(
            error, requestID: "id", button: button, opensOwnPages: opensOwnPages, restoring: nil)
        let leads = opensOwnPages && button?.isEmpty == false
        let words = leads ? "This account needs another step. Use “Login with Company”." : "The message"
        #expect(envelope.message == words && envelope.status == 403 && envelope.code == .secondProofRequired)
    }

    @Test(arguments: [("Login with Company", " Sign in with “Login with Company”."), ("", ""), (nil, "")])
    func `an account without a password leads to the button of the app`(button: String?, advice: String) throws {
        let error = try #require(APIError(any: AccountsError.identityNotFound))
        let envelope = ImmichEnvelope(error, requestID: "id", button: button, opensOwnPages: false, restoring: nil)
        #expect(envelope.message == "This account has no password." + advice && envelope.status == 404)
    }

    @Test func `no path belongs to two dialects or to version 1`() {
        for (index, one) in HTTPAPI.dialects.enumerated() {
            let shared = [base + "/auth/me", "/oauth/token", "/openapi.json"].filter(one.owns)
            #expect(shared.isEmpty)
            for other in HTTPAPI.dialects[..<index] {
                let common = one.bases.filter(other.owns) + other.bases.filter(one.owns)
                #expect(common.isEmpty)
            }
        }
    }

    private enum Other: Dialect {
        static let name = "other"
        static let bases = ["/other/", "/auth/me"]
        static let credentials = [CredentialSource.authorization]
        static let requestFields: [HTTPField.Name] = []
        static let writesError = TimeTracker.writesError
        static let errorSchema = TimeTracker.errorSchema
        static func renewal(in settings: DialectSettings) -> Renewal? { nil }
        static func endpoints(_ operations: Operations) -> [Endpoint] { [] }
    }

    @Test func `dialects that share a path are found in either order`() throws {
        #expect(HTTPAPI.dialects.conflict == nil)
        let dialects: [[any Dialect.Type]] = [
            [Immich.self, TimeTracker.self, Other.self], [Other.self, TimeTracker.self],
        ]
        let conflicts = dialects.map { $0.conflict.map { [$0.0, $0.1] } }
        #expect(conflicts == [["timetracker", "other"], ["other", "timetracker"]])
    }
}
