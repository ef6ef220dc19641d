internal import Foundation
internal import OpenID
internal import Pages
internal import ProviderKit
internal import Tokens

extension Form {
    /// A text for all languages, or a mapping from languages to texts; the key for all languages is empty.
    static let localized = Form(description: "a text, or a mapping of languages to texts") { node, reader in
        guard let text = node.text else { return table(node, reader, of: .text, names: isLanguage) }
        return Form.text.read(node.with(.scalar(text)), reader).map { read in
            node.with(.table([.init(key: "", value: read)]))
        }
    }

    /// A client's secret, of which only the hash is kept in memory.
    static let clientSecret = secret("a secret of at least 32 bytes: text, or file:PATH") { $0.utf8.count >= 32 }

    /// A software statement, which is accepted byte for byte.
    static let statement = Form(description: secret.description) { node, reader in
        reader.hide(node.place)
        guard reader.ignoresStatements, node.text != nil else { return secret.read(node, reader) }
        return node
    }

    static let clientKeys = secret("a JWK Set without private keys: JSON text, or file:PATH") { text in
        try UpstreamTokenVerifier.check(set: text)
        return true
    }

    static let clientRedirectURI = Form.text(
        "an https URI, an http URI on loopback, or one of a private scheme with a dot in it; without fragment or user"
    ) { text in
        (try? ClientRedirectURI(text)) == nil ? nil : text
    }

    static let clientURL = Form.text("an absolute http or https URL without user or fragment") { text in
        guard let url = URLComponents(http: text), url.user == nil, url.password == nil, url.fragment == nil else {
            return nil
        }
        return text
    }

    /// The URL of a picture, which becomes a part of pages' content security policies.
    static let clientLogo = Form.text("an https URL of A-Z, a-z, 0-9, ., _, ~, -, %, : and / only") { text in
        let isPlain = text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "._~-%:/".utf8.contains($0) }
        return isPlain && URLComponents(http: text)?.scheme == "https" ? text : nil
    }

    /// The file of a picture, which is read as base64.
    static let picture = scalar("file:PATH of an SVG, PNG or WebP picture up to 64 KiB") { text, node, reader in
        guard text.hasPrefix("file:") else { return nil }
        guard let encoded = reader.base64(ofFile: String(text.dropFirst("file:".count)), at: node.place) else {
            throw Reported()
        }
        guard let bytes = Data(base64Encoded: encoded), bytes.count <= 64 << 10, Picture(Array(bytes)) != nil else {
            return nil
        }
        return node.with(.scalar(encoded))
    }

    static let clients = Form(description: "a mapping of ids", children: (".ID.", ClientSection.settings)) {
        node, reader in table(node, reader, of: .section(ClientSection.self), names: clientIDFault)
    }

    static let software = Form(description: "a mapping of ids", children: (".ID.", SoftwareSection.settings)) {
        node, reader in table(node, reader, of: .section(SoftwareSection.self), names: clientIDFault)
    }

    /// Why a client or software cannot have this id; `nil` if it can.
    private static func clientIDFault(_ id: String) -> String? {
        guard (1...64).contains(id.utf8.count), UUID(uuidString: id) == nil,
            id.utf8.allSatisfy({ $0.isASCIILetterOrDigit || "._-".utf8.contains($0) })
        else { return "an id is 1 to 64 of A-Z, a-z, 0-9, ., _ and -, and no UUID" }
        return nil
    }

    static let resources = Form(
        description: "a mapping of URIs", children: (".URI.", OpenIDSection.ResourceSection.settings)
    ) { node, reader in
        table(node, reader, of: .section(OpenIDSection.ResourceSection.self)) { uri in
            let url = URLComponents(string: uri, encodingInvalidCharacters: false)
            let isAbsolute = url?.scheme != nil && url?.fragment == nil && uri.utf8.count <= 512
            return isAbsolute ? nil : "a resource is an absolute URI without a fragment"
        }
    }

    /// A mapping from scopes to their texts by language.
    static let scopes = Form(description: "a mapping of scopes to texts") { node, reader in
        table(node, reader, of: .completelyLocalized) { scope in
            let isToken = scope.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
            let isTaken = StandardScope(rawValue: scope) != nil || StandardScope.qrNames.contains(scope)
            guard isToken, !isTaken, (1...128).contains(scope.utf8.count) else {
                return "a scope is 1 to 128 visible characters, and none that the server defines"
            }
            return nil
        }
    }

    /// Works as `localized`, but a mapping has every language.
    private static let completelyLocalized = Form(description: localized.description) { node, reader in
        guard let read = localized.read(node, reader) else { return nil }
        guard !node.isMapping || read.entries.count == languages.count else {
            return reader.refuse(node, expected: "one text, or a text in each of \(languages.joined(separator: ", "))")
        }
        return read
    }

    private static let languages = PageLanguage.allCases.map(\.rawValue)

    private static func isLanguage(_ name: String) -> String? {
        languages.contains(name) ? nil : "a language is one of \(languages.joined(separator: ", "))"
    }

    /// Reads a mapping whose values have one form; `fault` returns why a key is refused.
    private static func table(
        _ node: ConfigurationNode, _ reader: SettingsReader, of form: Form, names fault: (String) -> String?
    ) -> ConfigurationNode? {
        guard node.isMapping else { return reader.refuse(node, expected: "a mapping") }
        return node.with(
            .table(
                node.entries.compactMap { entry in
                    if let reason = fault(entry.key) {
                        reader.report(reason, at: entry.value.place)
                        return nil
                    }
                    return form.read(entry.value, reader).map { .init(key: entry.key, value: $0) }
                }))
    }
}
