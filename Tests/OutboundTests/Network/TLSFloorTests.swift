import Foundation
import NIOSSL
import ProviderKit
import Testing

@testable import Outbound

/// Tests that TLS 1.2 is the oldest version that the client accepts.
struct TLSFloorTests {
    @Test(arguments: [(TLSVersion.tlsv1, false), (.tlsv11, false), (.tlsv12, true), (.tlsv13, true)])
    func `an older version is refused`(newest: TLSVersion, isSpoken: Bool) async throws {
        let certificate = try TestCertificate(host: "pinned.invalid")
        let lookUp: Resolver.LookUp = { _ in [IPAddress("127.0.0.1")].compactMap { $0 } }
        let tls = try certificate.serverContext(newest: newest)
        try await LocalUpstream.with(tls: tls, answer: { _ in .reply(200) }) { upstream in
            let url = upstream.url(host: "pinned.invalid", scheme: "https")
            try await OutboundNetwork.with(tls: certificate.trusting, lookUp: lookUp) { network in
                let poster = network.poster(allowsPrivateHosts: true)
                guard isSpoken else {
                    #expect(await network.fetcher().fails(url))
                    await #expect(throws: Obstacle.tls) {
                        try await poster.post(.post(url, json: []), within: .seconds(3))
                    }
                    return
                }
                #expect(await network.fetcher().status(of: url) == 200)
                let status = try await poster.post(.post(url, json: []), within: .seconds(3))
                #expect(status == 200)
            }
            #expect(upstream.asked.count == (isSpoken ? 2 : 0))
        }
    }

    @Test func `a certificate of an unknown authority`() async throws {
        let certificate = try TestCertificate(host: "pinned.invalid")
        let lookUp: Resolver.LookUp = { _ in [IPAddress("127.0.0.1")].compactMap { $0 } }
        try await LocalUpstream.with(tls: try certificate.serverContext(), answer: { _ in .reply(200) }) { upstream in
            try await OutboundNetwork.with(lookUp: lookUp) { network in
                await #expect(throws: Obstacle.tls) {
                    try await network.poster(allowsPrivateHosts: true).post(
                        .post(upstream.url(host: "pinned.invalid", scheme: "https"), json: []), within: .seconds(3))
                }
            }
            #expect(upstream.asked.isEmpty)
        }
    }
}
