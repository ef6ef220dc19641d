import Foundation
import ProviderKit
import Testing

@testable import GatehouseServer

/// The modules of the OpenID conformance suite, with relying parties of other authors: Authlib, idpyoidc and
/// django-allauth, which are driven by the programs in `Tests/RelyingParties`.
struct ConformanceTests {
    private static let secret = "a secret of the relying party, 32 bytes and more"

    /// The clients of the programs; one is told at a port of this machine when its sessions end.
    private static func clients(backchannel port: Int) -> String {
        """
        openid:
          clients:
            web:
              name: Conformance
              secret: "\(secret)"
              pkce: optional
              redirectURIs: ["https://rp.example/cb"]
              postLogoutRedirectURIs: ["https://rp.example/bye"]
              backchannelLogoutURI: "http://127.0.0.1:\(port)/logout"
              scopes: [openid, profile, email, phone, offline_access]
            other:
              name: Another
              secret: "\(secret)"
              pkce: optional
              redirectURIs: ["https://other.example/cb"]
              scopes: [openid, email, offline_access]
              firstParty: true
            django:
              name: Django
              secret: "\(secret)"
              redirectURIs: ["https://django.example/accounts/oidc/gatehouse/login/callback/"]
          registration: { mode: open, pkce: optional, scopes: [openid, profile, email, phone, offline_access] }
        """
    }

    /// Runs a plan's program against a server, and reports each module that fails.
    @Test(arguments: [
        "basic", "basic_form_post", "config", "rp_initiated_logout", "backchannel_logout", "allauth", "idpyoidc",
        "dynamic",
    ])
    func `relying parties of other authors find what the plan's modules check`(plan: String) async throws {
        let programs = try await PythonPrograms.relyingParties()
        let (port, backchannel) = (try Port.free(), try Port.free())
        try await TestServer.with(
            port: port, application: Self.clients(backchannel: backchannel),
            providers: "phone: { enabled: true }", tokens: "algorithm: RS256"
        ) { server in
            let program = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../RelyingParties/run.py").standardizedFileURL.path
            let (status, output, errors) = try await ProcessDirectory.with { directory in
                try await GatehouseProcess.with(
                    ["-B", program, plan, server.url, "\(backchannel)", Self.secret], program: programs.python,
                    in: directory
                ) { process in
                    (try await process.end(within: .seconds(900)), process.output, process.errors)
                }
            }
            let modules = try output.split(separator: "\n").map {
                try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
            }
            for module in modules {
                #expect(module["ok"] == true, "\(module["module"].string ?? ""): \(module["detail"].string ?? "")")
            }
            #expect(status == 0 && !modules.isEmpty, "\(errors)")
        }
    }
}
