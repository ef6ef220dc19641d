import Foundation
import NIOHTTP1
import ProviderKit
import Testing

@testable import GatehouseServer

/// `gatehouse dev`, used as the documentation describes.
@Suite(.serialized) struct DevelopmentCommandTests {
    /// Runs the body once the banner has been printed.
    func develop<Output>(
        in directory: ProcessDirectory, port: Int? = nil,
        _ body: (GatehouseProcess, APIClient) async throws -> Output
    ) async throws -> Output {
        let port = try port ?? Port.free()
        return try await GatehouseProcess.with(["dev", "--port", "\(port)"], in: directory) { process in
            try await eventually("the banner is complete", within: .seconds(60)) {
                try #require(process.isRunning, "\(process.errors)")
                return process.output.contains("Ctrl-C")
            }
            return try await body(process, APIClient(url: "http://127.0.0.1:\(port)"))
        }
    }

    private func checkNothingIsLeft(in directory: ProcessDirectory) async throws {
        try await eventually("nothing is left running: \(directory.processes())", within: .seconds(10)) {
            directory.processes().isEmpty
        }
    }

    /// Registers an installation at Blitz's path, and expects a sign-in by QR code on the page of a browser.
    private func checkPhones(at client: APIClient) async throws {
        let members: JSONValue = [
            "software_id": "demo-mobile", "device_type": "iphone",
            "software_statement": .string(DevelopmentHome.softwareStatement),
        ]
        let registered = try await client.send(
            .POST, "/blitz/oauth/register", raw: Array(JSONEncoder().encode(members)),
            bearer: DevelopmentHome.initialAccessToken)
        #expect(registered.status == 201, "\(registered.text)")
        let management = registered["registration_client_uri"].string ?? ""
        #expect(management.hasPrefix(client.url + "/blitz/oauth/register/dyn~demo-mobile~"), "\(registered.text)")

        let begun = try await client.send(.GET, "/signin")
        let cookies = begun.headers["set-cookie"].map { $0.prefix { $0 != ";" } }.joined(separator: "; ")
        let location = begun.headers.first(name: "location") ?? ""
        let path = location.hasPrefix(client.url) ? String(location.dropFirst(client.url.count)) : location
        let page = try await client.send(.GET, path, headers: ["cookie": cookies])
        #expect(page.text.contains("<main data-step=\"signin\""), "\(page.status) \(page.text)")
        #expect(page.text.contains("<button name=\"action\" value=\"qr\""), "\(page.text)")
    }

    @Test(arguments: ["plain", "it's a path; with $(odd) names"])
    func theBannersLinesWorkAsPrinted(name: String) async throws {
        try await ProcessDirectory.with(named: name) { directory in
            try await develop(in: directory) { process, client in
                #expect(process.output.contains(client.url))
                let lines = process.output.split(separator: "\n")
                    .filter { $0.contains("curl ") || $0.contains("openssl ") }
                try #require(lines.count == 9)
                // Runs all lines in one shell, because users paste them into one.
                let script = lines.joined(separator: "\necho ----\n")
                let outcome = try await GatehouseProcess.run(["-c", script], program: "/bin/sh", in: directory)
                #expect(outcome.status == 0)
                let answers = outcome.output.split(separator: "----\n").map(String.init)
                try #require(answers.count == 9, "\(outcome.output)")
                let session = try JSONDecoder().decode(JSONValue.self, from: Data(answers[0].utf8))
                let refreshed = try JSONDecoder().decode(JSONValue.self, from: Data(answers[1].utf8))
                #expect(session["user"]["isAnonymous"] == true)
                #expect(refreshed["accessToken"].string != nil)
                #expect(refreshed["refreshToken"].string != session["refreshToken"].string)
                #expect(answers[2].hasPrefix("HTTP/1.1 204"))
                let bearer = try #require(refreshed["accessToken"].string)
                #expect(try await client.status(of: bearer) == 401)
                let custom = try JSONDecoder().decode(JSONValue.self, from: Data(answers[4].utf8))
                #expect(custom["auth"]["provider"] == "custom" && custom["auth"]["providerUid"] == "ada", "\(answers)")
                let carrier = try JSONDecoder().decode(JSONValue.self, from: Data(answers[5].utf8))
                #expect(carrier["user"]["phone"] == "+33612345678", "\(answers)")
                // The code is a placeholder; what the server gets to see of the line is right.
                #expect(answers[6].contains("invalid_grant"), "\(answers)")
                let instance = try JSONDecoder().decode(JSONValue.self, from: Data(answers[7].utf8))
                #expect(instance["client_id"].string?.hasPrefix("dyn~demo-mobile~") == true, "\(answers)")
                let listed = try JSONDecoder().decode(JSONValue.self, from: Data(answers[8].utf8))
                #expect(listed["items"].array?.contains { $0["status"] == "live" } == true, "\(answers[8])")
                for (path, issuer) in [("", client.url), ("/blitz", client.url + "/blitz")] {
                    let metadata = try await client.send(.GET, path + "/.well-known/openid-configuration")
                    #expect(metadata["issuer"].string == issuer, "\(metadata.text)")
                }
                let place = process.output.split(separator: "\n").first { $0.contains("/oauth/authorize?") }
                let path = try #require(place).trimmingCharacters(in: .whitespaces).dropFirst(client.url.count)
                let asked = try await client.send(.GET, String(path))
                let page = asked.headers.first(name: "location") ?? ""
                #expect(page.hasPrefix(client.url + "/signin/"), "\(asked.status) \(page)")
                try await checkPhones(at: client)
                let start = try await client.send(.GET, "/", headers: ["accept": "text/html"])
                let link = try #require(start.text.firstMatch(of: /id="authorize" href="([^"]*)"/)?.output.1)
                let example = link.replacing("&amp;", with: "&").dropFirst(client.url.count)
                let begun = try await client.send(.GET, String(example)).headers.first(name: "location")
                #expect(begun?.hasPrefix(client.url + "/signin/") == true, "\(start.text)")
                let providers = try await client.get("/auth/providers")["providers"].array ?? []
                let names = Set(providers.compactMap { $0["name"].string })
                #expect(names == ["anonymous", "email", "phone", "custom", "carrier", "hosted"])
                for path in ["/signup", "/dev/inbox"] {
                    #expect(process.output.contains(client.url + path))
                    let shown = try await client.send(.GET, path, headers: ["accept": "text/html"])
                    #expect([200, 303].contains(shown.status), "\(path): \(shown.status) \(shown.text)")
                }
                let key = directory.path(".gatehouse/custom-token-key.pem")
                let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                #expect(try await process.end(by: SIGINT) == 0)
                #expect(process.errors == "")
            }
            try await checkNothingIsLeft(in: directory)
        }
    }

    @Test func `the banner has a link for the first owner`() async throws {
        try await ProcessDirectory.with { directory in
            try await develop(in: directory) { process, client in
                let link = try #require(process.output.firstMatch(of: /http:\S*\/console\/claim\?token=\S*/)?.output)
                #expect(link.hasPrefix(client.url + "/console/claim"))
                let page = try await client.send(.GET, String(link.dropFirst(client.url.count)))
                #expect(page.status == 200 && page.text.contains("<em>owner</em> of <em>all applications</em>"))
                #expect(try await process.end(by: SIGTERM) == 0)
            }
        }
    }

    @Test func theSecondStartFindsTheFirstOnesAccounts() async throws {
        try await ProcessDirectory.with { directory in
            let port = try Port.free()
            let guest = try await develop(in: directory, port: port) { process, client in
                let guest = try await client.guest()
                #expect(try await process.end(by: SIGTERM) == 0)
                #expect(process.errors == "")
                return guest
            }
            try await checkNothingIsLeft(in: directory)
            let clock = ContinuousClock()
            let start = clock.now
            try await develop(in: directory, port: port) { process, client in
                print("the second start of `gatehouse dev` took \((clock.now - start).milliseconds) ms")
                let refreshed = try await client.refresh(guest.refreshToken)
                #expect(refreshed.status == 200)
                #expect(try await client.status(of: guest.accessToken) == 200)
                #expect(try await process.end(by: SIGTERM) == 0)
            }
            try await checkNothingIsLeft(in: directory)
        }
    }

    @Test func aKeyThatIsNoneIsOneLine() async throws {
        try await ProcessDirectory.with { directory in
            let home = directory.path(".gatehouse")
            try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
            try Data("nonsense".utf8).write(to: URL(filePath: home + "/custom-token-key.pem"))
            let port = try Port.free()
            let outcome = try await GatehouseProcess.run(["dev", "--port", "\(port)"], in: directory)
            #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome.errorLines)")
            #expect(outcome.errorLines.first?.contains("custom-token-key.pem is not a key") == true)
        }
    }

    @Test func killedItLeavesNoPostgreSQL() async throws {
        try await ProcessDirectory.with { directory in
            try await develop(in: directory) { process, _ in
                #expect(directory.processes().count > 1)
                let status = try await process.end(by: SIGKILL)
                #expect(status == -SIGKILL)
            }
            try await checkNothingIsLeft(in: directory)
        }
    }

    @Test func aTakenPortIsOneLine() async throws {
        try await ProcessDirectory.with { directory in
            let taken = try Port()
            let outcome = try await GatehouseProcess.run(["dev", "--port", "\(taken.number)"], in: directory)
            #expect(outcome.status == 1)
            #expect(outcome.output == "")
            #expect(
                outcome.errorLines == [
                    "gatehouse: 127.0.0.1:\(taken.number) is taken by another program; choose another port"
                ])
            try await checkNothingIsLeft(in: directory)
        }
    }

    @Test func aSecondServerInTheSameDirectoryIsRefused() async throws {
        try await ProcessDirectory.with { directory in
            try await develop(in: directory) { _, client in
                let port = try Port.free()
                let outcome = try await GatehouseProcess.run(["dev", "--port", "\(port)"], in: directory)
                #expect(outcome.status == 1)
                #expect(outcome.errorLines.count == 1)
                #expect(outcome.errorLines.first?.contains("another server") == true)
                #expect(try await client.post("/auth/anonymous").status == 200)
            }
        }
    }

    @Test(arguments: [
        ["--port", "65536"], ["--port", "0"], ["--port", "-1"], ["--port", "http"], ["--directory", "/dev/null/x"],
    ])
    func aWrongOptionIsOneLineAndStartsNothing(options: [String]) async throws {
        try await ProcessDirectory.with { directory in
            let outcome = try await GatehouseProcess.run(["dev"] + options, in: directory)
            #expect(outcome.status == 1)
            #expect(outcome.errorLines.count == 1, "\(outcome.errorLines)")
            #expect(!FileManager.default.fileExists(atPath: directory.path(".gatehouse/postgres")))
            #expect(directory.processes() == [])
        }
    }
}
