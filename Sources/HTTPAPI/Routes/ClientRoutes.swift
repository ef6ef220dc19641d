internal import Accounts
internal import HTTPTypes
internal import Hummingbird
internal import ProviderKit

/// Serves the client for JavaScript: its modules, a copy of each under a name with its hash, and the paths of the copies.
///
/// Every origin may read them, because browsers fetch modules with CORS.
struct ClientRoutes {
    private static let folder = "/client/"

    /// The files whose paths never change.
    var endpoints: [Endpoint] {
        let scripts = ClientScript.all.map { script in
            Self.endpoint(
                script.name, "A module of the client for JavaScript", type: ClientScript.type,
                responses: [
                    .init(status: .notModified, description: "The client has it (`If-None-Match`)")
                ]
            ) { .script(script.file, to: $0.request.request, cache: "public, max-age=300") }
        }
        let manifest = Self.endpoint(
            "manifest.json", "The paths of the modules' immutable copies, by file name", type: "application/json"
        ) { context in
            let paths = ClientScript.all.map { script in
                (script.name, JSONValue.string(context.scope.publicPath + Self.folder + script.copyName))
            }
            let manifest = Dictionary(uniqueKeysWithValues: paths).sortedJSON
            return .bytes(manifest, type: "application/json", cache: "no-cache")
        }
        return scripts + [manifest]
    }

    /// The copies, whose paths change with their content.
    var copies: [Endpoint] {
        ClientScript.all.map { script in
            Self.endpoint(script.copyName, "A copy of \(script.name)", type: ClientScript.type) {
                .script(script.copy, to: $0.request.request, cache: "public, max-age=31536000, immutable")
            }
        }
    }

    private static func endpoint(
        _ name: String, _ summary: String, type: String, responses: [ReturnedResponse] = [],
        _ respond: @escaping @Sendable (OperationContext) async throws -> Response
    ) -> Endpoint {
        .open(
            folder + name, summary, takes: TakenRequest(origins: .all),
            returns: [.init(contentType: String(type.prefix { $0 != ";" }))] + responses, respond)
    }
}

/// A module of the client for JavaScript.
struct ClientScript: Sendable {
    static let type = "text/javascript; charset=utf-8"

    /// The content of a file, and the first 128 bits of its SHA-256 in hexadecimal.
    struct File: Sendable {
        let bytes: [UInt8]
        let hash: String

        fileprivate init(_ text: String) {
            bytes = Array(text.utf8)
            hash = Array(Digest.sha256(of: text).prefix(16)).hex
        }
    }

    let name: String
    let file: File
    /// The same file, with imports of the copies of other modules.
    let copy: File

    var copyName: String { name.replacing(".js", with: "-\(copy.hash).js") }

    /// All modules; each imports only modules before it.
    static let all: [ClientScript] = ["gatehouse.js", "webcom-auth.js"].reduce(into: []) { scripts, name in
        let text = EmbeddedFiles.all["Scripts/\(name)"] ?? ""
        let copy = scripts.reduce(text) { $0.replacing("\"./\($1.name)\"", with: "\"./\($1.copyName)\"") }
        scripts.append(ClientScript(name: name, file: File(text), copy: File(copy)))
    }
}

extension Response {
    /// A module, or 304 without content if the client has it.
    fileprivate static func script(_ file: ClientScript.File, to request: Request, cache: String) -> Response {
        let tag = "\"\(file.hash)\""
        let known = request.headers[.ifNoneMatch]?.utf8.split(separator: UInt8(ascii: ",")) ?? []
        guard !known.contains(where: { $0.drop(while: " W/".utf8.contains).elementsEqual(tag.utf8) }) else {
            return Response(status: .notModified, headers: [.cacheControl: cache, .eTag: tag])
        }
        var response = Response.bytes(file.bytes, type: ClientScript.type, cache: cache)
        response.headers[.eTag] = tag
        return response
    }
}
