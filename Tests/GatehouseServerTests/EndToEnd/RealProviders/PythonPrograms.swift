import Foundation
import Testing

/// Third-party Python programs, which are installed once under `.build` and kept for the next run.
struct PythonPrograms: Sendable {
    /// The interpreter, to which a program's path is passed, so that the directory may be moved.
    let python: String
    private let directory: URL

    /// The path of an installed program.
    func path(_ name: String) -> String { directory.appending(path: "bin/\(name)").path }

    /// The path of a file that a package has installed.
    func path(inPackages name: String) throws -> String {
        let lib = directory.appending(path: "lib")
        let versions = try FileManager.default.contentsOfDirectory(atPath: lib.path)
        return lib.appending(path: "\(versions.first ?? "")/site-packages/\(name)").path
    }

    /// Packages that are installed together.
    struct Selection: Sendable {
        /// The name of the installation's directory.
        let name: String
        let packages: [String]
        /// Versions of the dependencies that are known to work together; `nil` to install no dependencies.
        let constraints: String?
    }

    /// The OpenID providers; if they cannot be installed, the test is skipped and gives the reason.
    static func ready() async throws -> PythonPrograms { try await ready(providers) }

    /// `aiosmtpd`; if it cannot be installed, the test is skipped and gives the reason.
    static func mailServer() async throws -> PythonPrograms { try await ready(mailServers) }

    /// Schemathesis; if it cannot be installed, the test is skipped and gives the reason.
    static func schemathesis() async throws -> PythonPrograms { try await ready(schemaTesters) }

    /// The relying parties; if they cannot be installed, the test is skipped and gives the reason.
    static func relyingParties() async throws -> PythonPrograms { try await ready(relyingPartyLibraries) }

    /// axe-core; if it cannot be installed, the test is skipped and gives the reason.
    static func axe() async throws -> PythonPrograms { try await ready(accessibilityTesters) }

    private static let accessibilityTesters = Task { await find(.accessibilityTesters) }
    private static let relyingPartyLibraries = Task { await find(.relyingParties) }
    private static let schemaTesters = Task { await find(.schemaTesters) }
    private static let providers = Task { await find(.openIDProviders) }
    private static let mailServers = Task { await find(.mailServers) }

    private static func ready(_ outcome: Task<Result<PythonPrograms, Missing>, Never>) async throws -> PythonPrograms {
        switch await outcome.value {
        case .success(let programs): return programs
        case .failure(let missing): try Test.cancel("they can't be had: \(missing.reason)")
        }
    }

    private struct Missing: Error {
        let reason: String
    }

    private static func find(_ selection: Selection) async -> Result<PythonPrograms, Missing> {
        let place = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../.build/\(selection.name)").standardizedFileURL
        let words = selection.packages.map { $0.replacing(/\[.*\]/, with: "").replacing("==", with: "-") }
        let directory = place.appending(path: words.joined(separator: "+"))
        do {
            if !FileManager.default.fileExists(atPath: directory.path) { try await install(selection, in: directory) }
            let python = directory.appending(path: "bin/python").path
            return .success(PythonPrograms(python: python, directory: directory))
        } catch {
            return .failure(error as? Missing ?? Missing(reason: "\(error)"))
        }
    }

    /// Installs into a temporary directory and renames it at the end, so that an interrupted run leaves no partial
    /// installation.
    private static func install(_ selection: Selection, in directory: URL) async throws {
        let files = FileManager.default
        let unfinished = directory.deletingLastPathComponent().appending(path: "unfinished-\(UUID().uuidString)")
        try files.createDirectory(at: unfinished.deletingLastPathComponent(), withIntermediateDirectories: true)
        defer { try? files.removeItem(at: unfinished) }
        try await ProcessDirectory.with { home in
            try await run("python3", ["-m", "venv", unfinished.path], in: home)
            try home.write(selection.constraints ?? "", to: "constraints.txt")
            // Allows only wheels, so that nothing is compiled.
            let options = [
                "--quiet", "--no-input", "--disable-pip-version-check", "--only-binary", ":all:", "--retries", "1",
                "--timeout", "20", "--constraint", "constraints.txt",
            ]
            let without = selection.constraints == nil ? ["--no-deps"] : []
            let python = unfinished.appending(path: "bin/python").path
            try await run(python, ["-m", "pip", "install"] + options + without + selection.packages, in: home)
        }
        // A concurrent run may have finished first.
        if !files.fileExists(atPath: directory.path) { try files.moveItem(at: unfinished, to: directory) }
    }

    private static func run(_ program: String, _ arguments: [String], in home: ProcessDirectory) async throws {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(240)
        try await GatehouseProcess.with(arguments, program: program, in: home) { process in
            while process.isRunning, clock.now < deadline { try await clock.sleep(for: .milliseconds(50)) }
            guard !process.isRunning else { throw Missing(reason: "installing them takes over four minutes") }
            guard try await process.end() == 0 else {
                let lines = (process.output + process.errors).split(separator: "\n")
                throw Missing(reason: lines.last.map(String.init) ?? "\(program) fails")
            }
        }
    }
}

extension PythonPrograms.Selection {
    /// The package's script is needed, but not Playwright.
    static let accessibilityTesters = Self(
        name: "accessibility-testers", packages: ["axe-playwright-python==0.1.8"], constraints: nil)

    static let mailServers = Self(
        name: "mail-servers", packages: ["aiosmtpd==1.4.6"],
        constraints: """
            atpublic==9.0.0
            attrs==26.1.0
            """)

    static let relyingParties = Self(
        name: "relying-parties",
        packages: ["authlib==1.9.9", "idpyoidc==5.0.0", "django-allauth[socialaccount]==65.21.1"],
        constraints: """
            asgiref==3.13.0
            certifi==2026.10.18
            cffi==2.1.1
            charset-normalizer==3.5.2
            cryptography==50.0.2
            cryptojwt==1.11.0
            Django==5.2.19
            filelock==4.2.11
            idna==3.20
            Jinja2==3.1.6
            joserfc==1.8.0
            MarkupSafe==3.0.4
            oauthlib==4.0.1
            pycparser==3.12
            PyJWT==2.15.1
            pyOpenSSL==26.4.0
            PyYAML==6.0.3
            requests==2.34.2
            responses==0.26.3
            sqlparse==0.6.1
            typing_extensions==4.16.0
            urllib3==2.8.0
            """)

    static let schemaTesters = Self(
        name: "schema-testers", packages: ["schemathesis==4.32.5"],
        constraints: """
            anyio==4.16.0
            certifi==2026.10.18
            charset-normalizer==3.5.2
            click==8.5.1
            graphql-core==3.3.2
            harfile==0.6.0
            hypothesis==6.170.15
            hypothesis-graphql==0.13.5
            idna==3.20
            iniconfig==2.3.1
            jsonschema_rs==0.60.3
            markdown-it-py==4.3.0
            MarkupSafe==3.0.4
            mdurl==0.1.2
            packaging==26.3
            pluggy==1.7.0
            Pygments==2.21.0
            pyrate-limiter==4.5.1
            pytest==9.2.0
            PyYAML==6.0.3
            requests==2.34.2
            rich==15.0.0
            sortedcontainers==2.4.0
            typing_extensions==4.16.0
            urllib3==2.8.0
            Werkzeug==3.1.9
            """)

    static let openIDProviders = Self(
        name: "openid-providers", packages: ["oidc-provider-mock==0.3.4", "canaille[front,oidc,sqlite,server]==0.3.6"],
        constraints: """
            alembic==1.20.1
            annotated-types==0.8.0
            anyio==4.16.0
            asgiref==3.13.0
            Authlib==1.9.9
            babel==2.18.0
            blinker==1.9.0
            cachelib==0.17.0
            certifi==2026.10.18
            cffi==2.1.1
            click==8.5.1
            cryptography==50.0.2
            dnspython==2.9.2
            dramatiq==2.2.1
            dramatiq-eager-broker==0.3.0
            email-validator==2.4.0
            Flask==3.1.3
            Flask-Alembic==3.3.0
            flask-babel==4.0.0
            Flask-Caching==2.5.1
            flask-dramatiq==0.8.0
            Flask-Session==0.8.0
            flask-talisman==1.1.0
            flask-themer==2.0.0
            Flask-WTF==1.3.0
            h11==0.16.0
            h2==4.4.1
            hpack==4.2.0
            htpy==26.5.1
            httpcore==1.0.9
            httpx==0.28.1
            Hypercorn==0.18.0
            hyperframe==6.1.0
            idna==3.20
            isodate==0.7.2
            itsdangerous==2.2.0
            Jinja2==3.1.6
            joserfc==1.8.0
            Mako==1.4.3
            MarkupSafe==3.0.4
            msgspec==0.22.0
            passlib==1.7.4
            priority==2.0.0
            pycparser==3.12
            pydanclick==0.5.1
            pydantic==2.14.3
            pydantic-settings==2.16.3
            pydantic_core==2.50.4
            python-dotenv==1.2.4
            pytz==2026.6
            SQLAlchemy==2.1.9
            sqlalchemy-json==0.7.0
            SQLAlchemy-Utils==0.43.0
            tomlkit==0.15.2
            typing-inspection==0.4.5
            typing_extensions==4.16.0
            uvicorn==0.54.0
            Werkzeug==3.1.9
            wsproto==1.3.2
            WTForms==3.3.2
            zxcvbn-rs-py==0.3.0
            """)
}
