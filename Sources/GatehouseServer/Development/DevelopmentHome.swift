internal import Accounts
internal import Foundation
internal import Tokens

/// The directory of the database and the keys of `gatehouse dev`.
struct DevelopmentHome {
    let directory: String
    /// The key that signs the demo's custom tokens.
    let tokenKey: DevelopmentKey
    private let masterKey: String

    /// What an installation of `demo-mobile` registers with; it is no secret, as every copy of an app has it.
    static let initialAccessToken = "demo-mobile-registers-on-this-machine-alone"
    static let softwareStatement = "the-statement-of-demo-mobile"

    var databaseDirectory: String { directory + "/postgres" }

    /// Creates the directory and the keys if they are missing.
    ///
    /// The keys are readable only by their owner.
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
            admin: { application: demo, console: true, allow: [127.0.0.0/8, "::1"] }
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
                openid:
                  clients:
                    demo-app:
                      name: Demo
                      public: true
                      redirectURIs: ["http://127.0.0.1/callback"]
                      scopes: [openid, profile, email, phone, offline_access]
                  software:
                    demo-mobile:
                      name: Demo
                      initialAccessTokens: ["\(Self.initialAccessToken)"]
                      statements: ["\(Self.softwareStatement)"]
                      redirectURIs: ["com.example.demo:/callback", "http://127.0.0.1/callback"]
                      scopes: [openid, profile, email, offline_access, native, qr]
                  qr: { enabled: true }
                  paths: [blitz]
            """
        return try Configuration.parse(
            yaml, file: "gatehouse dev",
            environment: [
                "GATEHOUSE_MASTER_KEY": masterKey, "DATABASE_URL": databaseURL, "TOKEN_KEYS": tokenKey.keySet,
            ], installed: installed)
    }
}

extension Error {
    /// The operating system's error message, which Foundation stores in an underlying error.
    var operatingSystemReason: String {
        let underlying = (self as? CocoaError)?.underlying as? POSIXError
        return underlying.map { reason($0.code.rawValue) } ?? localizedDescription
    }
}

/// The key of the demo's custom tokens.
///
/// It is an RS256 key because `openssl dgst` writes RSA signatures in the form that tokens need.
struct DevelopmentKey {
    let path: String
    /// The public key as a JWK Set.
    let keySet: String

    /// Reads the key from the file, or creates one that only the file's owner can read.
    init(at file: URL) async throws {
        path = file.path
        let key: SigningKey
        if let text = try? String(contentsOf: file, encoding: .utf8) {
            guard let read = try? SigningKey(.rs256, privateKey: Self.der(ofPEM: text)) else {
                throw ServerError.development("\(path) is not a key of gatehouse dev; delete it to get a new one")
            }
            key = read
        } else {
            key = try await .generate(.rs256, bits: 2048)
            try DevelopmentHome.write(Self.pem(of: key.exported), to: file)
        }
        keySet = #"{"keys":[\#(key.publicKey.json)]}"#
    }

    private static let label = "RSA PRIVATE KEY"

    private static func pem(of der: [UInt8]) -> String {
        let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
    }

    private static func der(ofPEM text: String) -> [UInt8] {
        let body = text.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        return Data(base64Encoded: body).map { Array($0) } ?? []
    }
}
