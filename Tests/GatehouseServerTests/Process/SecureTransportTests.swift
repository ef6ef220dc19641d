import Foundation
import GatehouseTesting
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// TLS by the server itself, or behind a trusted proxy.
@Suite struct SecureTransportTests {
    @Test func aServerWithACertificateSpeaksBothVersions() async throws {
        var file = ServerFile(database: try await TemporaryPostgres.database())
        file.server = "tls: { certificate: 'file:cert.pem', key: 'file:key.pem' }"
        try await ProcessDirectory.with { directory in
            try await directory.makeCertificate()
            try await file.serve(in: directory, scheme: "https") { process, client in
                for (option, version) in [("--http1.1", "1.1"), ("--http2", "2")] {
                    let curl = """
                        curl -sS --cacert cert.pem -D - \(option) -w '\\n%{http_code} %{http_version}' -X POST \
                        \(client.url)/api/v1/auth/anonymous
                        """
                    let outcome = try await GatehouseProcess.run(["-c", curl], program: "/bin/sh", in: directory)
                    #expect(outcome.errorLines == [])
                    #expect(outcome.output.hasSuffix("\n200 \(version)"), "\(outcome.output)")
                    #expect(outcome.output.contains("accessToken"))
                    #expect(outcome.output.lowercased().contains("strict-transport-security: max-age=31536000"))
                }
                // TLS 1.1 must be refused; at this security level the client does offer it, so a server that supports
                // it would accept.
                for (version, isSpoken) in [("-tls1_1", false), ("-tls1_2", true)] {
                    let words = """
                        openssl s_client -connect 127.0.0.1:\(client.url.split(separator: ":").last ?? "") \(version) \
                        -cipher ALL:@SECLEVEL=0 -CAfile cert.pem </dev/null 2>&1
                        """
                    let outcome = try await GatehouseProcess.run(["-c", words], program: "/bin/sh", in: directory)
                    #expect((outcome.status == 0) == isSpoken, "\(outcome.output)")
                    #expect(outcome.output.contains("alert protocol version") == !isSpoken, "\(outcome.output)")
                }
                #expect(try await process.end(by: SIGTERM) == 0)
                let levels = try process.errorLines.map { try LogLine($0).level }
                #expect(Set(levels).isSubset(of: ["info", "notice"]), "\(process.errors)")
            }
        }
    }

    @Test func plainHTTPIsRefusedWithoutATrustedProxy() async throws {
        let log = CollectedLog()
        try await TestServer.with(server: "trustedProxies: [192.0.2.0/24]", logger: log.logger) { server in
            let client = APIClient(server)
            for headers: HTTPHeaders in [[:], ["X-Forwarded-Proto": "https"]] {
                let answer = try await client.send(.GET, "/api/v1/auth/providers", headers: headers)
                #expect(answer.status == 400)
                #expect(answer.code == "HTTPS_REQUIRED")
            }
            let ready = try await client.send(.GET, "/health/ready")
            #expect(ready.status == 200)
            #expect(ready.headers.first(name: "strict-transport-security") == nil, "not over plain HTTP")
        }
        // The second refusal is within a minute of the first.
        let lines = log.lines.filter { $0.contains("HTTPS required") }
        #expect(lines.count == 1 && lines[0].hasPrefix("notice ") && !lines[0].contains("127.0.0.1"), "\(lines)")
    }

    @Test func aTrustedProxySaysHowItWasCalled() async throws {
        try await TestServer.with(server: "trustedProxies: [127.0.0.0/8]") { server in
            let client = APIClient(server)
            for (scheme, status) in [("https", 200), ("HTTPS", 200), ("http", 400)] {
                let answer = try await client.send(
                    .GET, "/api/v1/auth/providers", headers: ["X-Forwarded-Proto": scheme])
                #expect(answer.status == status, "\(scheme)")
            }
            #expect(try await client.send(.GET, "/api/v1/auth/providers").code == "HTTPS_REQUIRED")
        }
    }
}

extension ProcessDirectory {
    /// Creates a certificate for 127.0.0.1 in `cert.pem` and its key in `key.pem`.
    func makeCertificate() async throws {
        let words = """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
            -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem
            """
        let outcome = try await GatehouseProcess.run(["-c", words], program: "/bin/sh", in: self)
        try #require(outcome.status == 0, "\(outcome.errorLines)")
    }
}
