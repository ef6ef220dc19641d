internal import Accounts
internal import Foundation

/// The directory that `gatehouse dev` keeps its database and its keys in.
struct DevelopmentHome {
    let directory: String
    /// Signs the demo's custom tokens.
    let tokenKey: DevelopmentKey
    private let masterKey: String

    var databaseDirectory: String { directory + "/postgres" }

    /// Makes the directory and the keys if they are missing; only their owner can read the keys.
    init(directory: String) async throws {
        let files = FileManager.default
        let url = URL(filePath: directory).standardizedFileURL
        self.directory = url.path
        do {
            try files.createDirectory(at: url, withIntermediateDirectories: true)
            masterKey = try Self.masterKey(at: url.appending(path: "master-key"))
            tokenKey = try await DevelopmentKey(at: url.appending(path: "custom-token-key.pem"))
        } catch let error as ServerError {
            throw error
        } catch {
            throw ServerError.development("can't use the directory \(directory): \(error.operatingSystemReason)")
        }
    }

    private static func masterKey(at file: URL) throws -> String {
        if let key = try? String(contentsOf: file, encoding: .utf8) { return key }
        let key = Data(SystemRandom.bytes(32)).base64EncodedString()
        try write(key, to: file)
        return key
    }

    static func write(_ secret: String, to file: URL) throws {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard
            FileManager.default.createFile(atPath: file.path, contents: Data(secret.utf8), attributes: attributes)
        else { throw CocoaError(.fileWriteNoPermission) }
    }

    /// The application `demo`, with every provider that works offline.
    func configuration(port: Int, databaseURL: String, installed: InstalledProviders) throws -> Configuration {
        let yaml = """
            server: { host: 127.0.0.1, port: \(port), publicURL: "http://127.0.0.1:\(port)", development: true }
            database: { url: "${DATABASE_URL}" }
            secrets: { masterKey: "${GATEHOUSE_MASTER_KEY}" }
            network: { allowPrivateHosts: true }
            defaultApplication: demo
            applications:
              demo:
                audience: demo
                origins: ["http://localhost:3000", "http://127.0.0.1:3000"]
                redirectURIs: ["demo://oauth/callback"]
                providers:
                  anonymous: { enabled: true }
                  email: { enabled: true }
                  phone: { enabled: true }
                  custom:
                    { kind: custom-token, issuer: demo, audience: demo, algorithms: [RS256], jwks: "${TOKEN_KEYS}" }
                  carrier: { kind: mobile-network, gateways: [127.0.0.0/8, "::1"], header: X-MSISDN }
            """
        return try Configuration.parse(
            yaml, file: "gatehouse dev",
            environment: [
                "GATEHOUSE_MASTER_KEY": masterKey, "DATABASE_URL": databaseURL, "TOKEN_KEYS": tokenKey.keySet,
            ], installed: installed)
    }
}

extension Error {
    /// The operating system's text, which Foundation hides in an underlying error.
    var operatingSystemReason: String {
        let underlying = (self as? CocoaError)?.underlying as? POSIXError
        return underlying.map { reason($0.code.rawValue) } ?? localizedDescription
    }
}
