import Accounts
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import ProviderKit
import Synchronization
import Testing

@testable import HTTPAPI

struct EndpointTests {
    private struct Login: RequestPayload {
        let password: String?

        static let fields = RequestFields(Self.init, .init("password"))
    }

    private final class Reads: Sendable {
        private let mutex = Mutex(0)
        var count: Int { mutex.withLock { $0 } }
        func add() { mutex.withLock { $0 += 1 } }
    }

    private func request(_ body: String) -> IncomingRequest {
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "test"))
        let head = HTTPRequest(method: .post, scheme: "https", authority: "localhost", path: "/login")
        return IncomingRequest(
            request: Request(head: head, body: .init(buffer: ByteBuffer())), context: APIRequestContext(source: source),
            body: ByteBuffer(string: body))
    }

    private func endpoint(
        _ limits: OperationLimits<Login>,
        hashesPassword: @escaping Operation<Login, Void>.HashingCondition = { _, _ in true }, reads: Reads = Reads()
    ) -> Endpoint {
        Operation("test.login", limits: limits, hashesPassword: hashesPassword) { _, _ in () }.at(
            .post, "/login", "Signs in",
            takes: .json(documented: Login.self) { request in
                reads.add()
                return try request.decode()
            },
            returns: .empty())
    }

    private let providers = ProviderRegistry(installedKinds: [], configured: [])

    @Test func `a route has the guards of its operation`() {
        let endpoint = endpoint(.client(.login))
        #expect(endpoint.path == "/api/v1/login" && endpoint.guards.name == "test.login")
        #expect(endpoint.guards.isLimited && endpoint.guards.access == .open)
        #expect(endpoint.takes.form == .json && !endpoint.answersHEAD)
    }

    @Test func `the input is not read before the limits are counted, unless a guard needs it`() {
        let reads = Reads()
        let prepared = endpoint(.client(.login), reads: reads).prepare(request("{}"), providers)
        guard case .named(.login) = prepared.limit else {
            Issue.record("\(prepared.limit)")
            return
        }
        #expect(prepared.hashesPassword && reads.count == 0)
    }

    @Test func `guards that need the input read it once`() {
        let reads = Reads()
        let endpoint = endpoint(
            .chosen { input, _ in input()?.password != nil ? .login : nil },
            hashesPassword: { input, _ in input()?.password != nil }, reads: reads)
        let prepared = endpoint.prepare(request(#"{"password":"x"}"#), providers)
        guard case .named(.login) = prepared.limit else {
            Issue.record("\(prepared.limit)")
            return
        }
        #expect(prepared.hashesPassword && reads.count == 1)
    }

    @Test func `an input that can't be read counts toward the general limit`() {
        let endpoint = endpoint(
            .chosen { input, _ in input()?.password != nil ? .login : nil },
            hashesPassword: { input, _ in input() != nil })
        let prepared = endpoint.prepare(request(#"{"password":5}"#), providers)
        guard case .general = prepared.limit else {
            Issue.record("\(prepared.limit)")
            return
        }
        #expect(!prepared.hashesPassword)
    }
}
