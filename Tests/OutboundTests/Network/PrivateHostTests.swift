import Foundation
import GatehouseTesting
import NIOSSL
import ProviderKit
import Synchronization
import Testing

@testable import Outbound

/// Tests which destinations requests may reach.
struct PrivateHostTests {
    @Test(arguments: [
        "https://127.0.0.1", "https://127.1", "https://2130706433", "https://0x7f.1", "https://0177.0.0.1",
        "https://localhost", "https://localhost.", "https://LOCALHOST", "https://[::1]", "https://[::ffff:127.0.0.1]",
        "https://[::ffff:7f00:1]", "https://[::]", "https://0.0.0.0", "https://0", "https://169.254.169.254",
        "https://10.0.0.1", "https://[fd00::1]", "https://[64:ff9b::7f00:1]", "https://[2002:7f00:1::]",
    ])
    func nothingPrivateIsReached(_ url: String) async throws {
        let log = LogRecorder()
        try await LocalUpstream.with(answer: { _ in .reply(200) }) { upstream in
            try await OutboundNetwork.with(logger: log.logger) { network in
                #expect(await network.fetcher(isPrivate: false).fails("\(url):\(upstream.port)/"))
                #expect(network.statistics.first?.failures == 1)
            }
            #expect(upstream.connections == 0)
            #expect(log.text.contains("address is not public"), "\(log.text)")
        }
    }

    @Test func oneNonPublicAddressAmongOthersIsEnough() async throws {
        let log = LogRecorder()
        try await LocalUpstream.with(answer: { _ in .reply(200) }) { upstream in
            let lookUp: Resolver.LookUp = { _ in ["8.8.8.8", "127.0.0.1"].compactMap { IPAddress($0) } }
            try await OutboundNetwork.with(lookUp: lookUp, logger: log.logger) { network in
                #expect(await network.fetcher(isPrivate: false).fails(upstream.url(host: "a.example", scheme: "https")))
            }
            #expect(log.text.contains("address is not public"))
        }
    }

    @Test func plainHTTPIsForPrivateHostsAlone() async throws {
        try await LocalUpstream.with(answer: { _ in .reply(200) }) { upstream in
            try await OutboundNetwork.with { network in
                #expect(await network.fetcher(isPrivate: false).fails(upstream.url()))
                #expect(await network.fetcher(isPrivate: true).status(of: upstream.url()) == 200)
            }
        }
    }

    /// The name exists only in the test's lookup, which shows that the client does not resolve it again.
    @Test func theConnectionGoesToTheAddressThatWasChecked() async throws {
        let record = Names()
        try await LocalUpstream.with(answer: { .reply(200, body: $0.headers["host"] ?? "") }) { upstream in
            let lookUp: Resolver.LookUp = { host in
                record.add(host)
                return [IPAddress("127.0.0.1")].compactMap { $0 }
            }
            try await OutboundNetwork.with(lookUp: lookUp) { network in
                for host in ["pinned.invalid", "PINNED.invalid", "pinned.invalid."] {
                    let answer = try await network.fetcher().fetch(.get(upstream.url(host: host)))
                    #expect(String(decoding: answer.body, as: UTF8.self) == "pinned.invalid:\(upstream.port)")
                }
            }
            #expect(record.all == ["pinned.invalid"])
        }
    }

    private final class Names: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    /// No server listens at the first address, so nothing is sent there before the next address is tried.
    @Test func theNextAddressIsTriedWhereNoConnectionIsMade() async throws {
        try await LocalUpstream.with(answer: { _ in .reply(200) }) { upstream in
            let lookUp: Resolver.LookUp = { _ in
                ["::1", "::2", "::3", "127.0.0.1"].compactMap { IPAddress($0) }
            }
            try await OutboundNetwork.with(lookUp: lookUp) { network in
                let start = ContinuousClock.now
                let answer = try await network.fetcher().fetch(.post(upstream.url(host: "a.invalid"), form: ["a": "b"]))
                #expect(answer.status == 200)
                #expect(ContinuousClock.now - start < .seconds(15))
                #expect(upstream.asked.count == 1)
            }
        }
    }

    @Test func certificatesAreCheckedAgainstTheHostsName() async throws {
        let certificate = try TestCertificate(host: "pinned.invalid")
        let lookUp: Resolver.LookUp = { _ in [IPAddress("127.0.0.1")].compactMap { $0 } }
        try await LocalUpstream.with(tls: try certificate.serverContext(), answer: { _ in .reply(200) }) { upstream in
            try await OutboundNetwork.with(tls: certificate.trusting, lookUp: lookUp) { network in
                let fetcher = network.fetcher()
                let answer = try await fetcher.fetch(.get(upstream.url(host: "pinned.invalid.", scheme: "https")))
                #expect(answer.status == 200)
                #expect(await fetcher.fails(upstream.url(host: "other.invalid", scheme: "https")))
                #expect(await fetcher.fails(upstream.url(scheme: "https")))
            }
            try await OutboundNetwork.with(lookUp: lookUp) { network in
                #expect(await network.fetcher().fails(upstream.url(host: "pinned.invalid", scheme: "https")))
            }
            #expect(upstream.asked.count == 1)
        }
    }

    @Test(.enabled(if: IPAddress.hasIPv6, "the machine has no IPv6"))
    func certificatesAreCheckedAgainstALiteralWithoutItsBrackets() async throws {
        for (name, isTrusted) in [("IP:::1", true), ("IP:::2", false)] {
            let certificate = try TestCertificate(host: "literal", name: name)
            let tls = try certificate.serverContext()
            try await LocalUpstream.with(at: "::1", tls: tls, answer: { _ in .reply(200) }) { upstream in
                try await OutboundNetwork.with(tls: certificate.trusting) { network in
                    let hasFailed = await network.fetcher().fails(upstream.url(host: "[::1]", scheme: "https"))
                    #expect(hasFailed != isTrusted, "\(name)")
                }
            }
        }
    }
}

extension IPAddress {
    /// Whether a socket can be bound to the loopback address of IPv6.
    fileprivate static var hasIPv6: Bool {
        let socket = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in6()
        (address.sin6_family, address.sin6_addr) = (sa_family_t(AF_INET6), in6addr_loopback)
        return withUnsafeBytes(of: &address) { bytes in
            bind(socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)) == 0
        }
    }
}

/// A self-signed certificate for one host.
struct TestCertificate {
    private let certificate: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey

    /// `name` is the certificate's subject alternative name; by default the host as a DNS name.
    init(host: String, name: String? = nil) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "outbound-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let keyFile = directory.appending(path: "key.pem").path
        let certificateFile = directory.appending(path: "cert.pem").path
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-days", "2", "-subj", "/CN=\(host)", "-addext", "subjectAltName=\(name ?? "DNS:\(host)")"]
            + ["-keyout", keyFile, "-out", certificateFile]
        process.standardError = nil
        try process.run()
        process.waitUntilExit()
        certificate = try NIOSSLCertificate.fromPEMFile(certificateFile)
        key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
    }

    func serverContext(newest: TLSVersion? = nil) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificate.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.maximumTLSVersion = newest
        return try NIOSSLContext(configuration: configuration)
    }

    var trusting: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(certificate)
        return configuration
    }
}
