internal import Accounts
internal import Delivery
internal import Foundation
internal import OpenID
internal import ProviderKit

extension Configuration {
    /// Reads and checks a file, and throws all its problems at once.
    ///
    /// Sections that can't be reloaded keep their values from `running`, the configuration in force. With
    /// `ignoringStatements` the files of software statements may be missing.
    package static func load(
        path: String, environment: [String: String], installed: InstalledProviders, replacing running: Self? = nil,
        ignoringStatements: Bool = false
    ) throws(ConfigurationError) -> Configuration {
        let source = Source(path: path)
        let yaml: String
        do {
            yaml = try BoundedFile.text(at: path)
        } catch {
            throw ConfigurationError([.init(file: path, line: nil, path: "", reason: error.reason)])
        }
        var configuration = try parse(
            yaml, file: path, environment: environment, installed: installed, replacing: running,
            ignoringStatements: ignoringStatements)
        configuration.sources.insert(source, at: 0)
        return configuration
    }

    /// Reads and checks a text.
    ///
    /// Problems show the path `file`. Relative paths in the text are relative to its directory.
    package static func parse(
        _ yaml: String, file: String, environment: [String: String], installed: InstalledProviders,
        replacing running: Self? = nil, ignoringStatements: Bool = false
    ) throws(ConfigurationError) -> Configuration {
        let reader = SettingsReader(
            file: file, environment: environment, installed: installed, ignoresStatements: ignoringStatements)
        guard let document = ConfigurationDocument.parse(yaml, reporting: reader),
            let root = reader.table(document, settings)
        else { throw reader.error ?? ConfigurationError([]) }
        let assembly = Assembly(reader: reader, root: root, running: running)
        assembly.refuseDuplicates()
        assembly.checkDefaultApplication(isAmong: document["applications"]?.entries.map(\.key) ?? [])
        reader.checkAdministration(in: root, isOf: document["applications"]?.entries.map(\.key) ?? [])
        let applications = assembly.applications()
        reader.warnOfSignUp(in: root, among: applications)
        guard reader.error == nil, var configuration: Configuration = assembly.decoded(root) else {
            throw reader.error ?? ConfigurationError([])
        }
        configuration.applications = applications
        configuration.fingerprints = fingerprints(of: document, files: reader.files)
        configuration.sources = reader.files.map(\.source)
        configuration.warnings = reader.warnings
        configuration.values = ConfigurationListing(of: root, in: document, reader: reader).values
        if let running { configuration.keepUnreloadable(of: running) }
        return configuration
    }

    private static func fingerprints(
        of document: ConfigurationNode, files: [(section: Section?, source: Source, content: String)]
    ) -> [Section: Int] {
        var hashers: [Section: Hasher] = [:]
        for entry in document.entries {
            guard let section = Section(key: entry.key) else { continue }
            hashers[section, default: Hasher()].combine(entry)
        }
        for file in files {
            guard let section = file.section else { continue }
            // A template's path says what it is for.
            hashers[section, default: Hasher()].combine(file.source.path)
            hashers[section, default: Hasher()].combine(file.content)
        }
        return hashers.mapValues { $0.finalize() }
    }
}

/// The retention of guests, which may be set in an anonymous provider or in the application's `anonymous` section.
private struct GuestOptions: Decodable { let retention: Duration? }

/// Checks settings that refer to other sections, and creates the applications with their providers.
private struct Assembly {
    let reader: SettingsReader
    let root: ConfigurationNode
    let running: Configuration?

    /// Decodes a checked node; `nil` if the node had a problem.
    func decoded<Value: Decodable>(_ node: ConfigurationNode?) -> Value? {
        guard let node else { return nil }
        do {
            return try Value(from: SettingsDecoder(node))
        } catch {
            // Checked nodes decode, unless a form accepts a value that the decoded type refuses.
            if reader.error == nil { reader.report(error, at: node) }
            return nil
        }
    }

    private var configuredApplications: [ConfigurationNode.Entry] { root["applications"]?.entries ?? [] }

    /// Reports hosts that several applications list, and URLs that several webhooks share.
    ///
    /// The host selects the application of a request, and the URL identifies a webhook's deliveries.
    func refuseDuplicates() {
        var owners: [String: String] = [:]
        for application in configuredApplications {
            for host in application.value["hosts"]?.items ?? [] {
                guard let owner = owners.updateValue(application.key, forKey: host.text ?? "") else { continue }
                reader.report("the application \(owner) already lists this host", at: host.place)
            }
        }
        var urls: Set<String> = []
        for url in (root["webhooks"]?.items ?? []).compactMap({ $0["url"] }) {
            guard let own = url.text.flatMap(Webhook.url), !urls.insert(own).inserted else { continue }
            reader.report("another webhook has the same URL", at: url.place)
        }
    }

    func checkDefaultApplication(isAmong names: [String]) {
        let place = root.place(of: "defaultApplication")
        if let name = root["defaultApplication"]?.text, !names.contains(name) {
            reader.report("no such application is configured", at: place)
        } else if let current = running?.defaultApplication, !names.contains(current) {
            reader.report("\(current) is the running server's default; removing it needs a restart", at: place)
        }
    }

    func applications() -> [Configuration.Application] {
        let server = running?.server ?? decoded(root["server"])
        let network = running?.network ?? decoded(root["network"])
        let defaultApplication = running.map(\.defaultApplication) ?? root["defaultApplication"]?.text
        let publicURL = server?.publicURL ?? ""
        let urls = configuredApplications.map { entry in
            entry.value["publicURL"]?.text
                ?? (entry.key == defaultApplication ? publicURL : "\(publicURL)/apps/\(entry.key)")
        }
        refuseAmbiguousNames(issuers: urls)
        return zip(configuredApplications, urls).compactMap { entry, url in
            if let own = entry.value["publicURL"]?.text, own.hasPrefix("http:"), server?.development != true {
                reader.report("plain http needs server.development", at: entry.value.place(of: "publicURL"))
            }
            refusePlainHTTP(ofClientsIn: entry.value, unless: server?.development == true)
            return application(
                entry.key, entry.value, url: url, allowsPrivateHosts: network?.allowPrivateHosts == true)
        }
    }

    /// Reports names that a token could use in two senses: issuers, client ids, resources and audiences must differ.
    ///
    /// Also reports `introspects` that name neither a resource nor the application's audience.
    private func refuseAmbiguousNames(issuers urls: [String]) {
        func audience(of application: ConfigurationNode.Entry) -> String {
            application.value["audience"]?.text ?? application.key
        }
        let audiences = configuredApplications.map(audience)
        var owners: [String: String] = [:]
        for (application, url) in zip(configuredApplications, urls) {
            let paths = application.value["openid"]?["paths"]?.items.map(\.text) ?? []
            for place in Issuer.Place.allCases where place == .plain || paths.contains(place.rawValue) {
                guard let owner = owners.updateValue(application.key, forKey: url + place.base) else { continue }
                reader.report(
                    "the application \(owner) has the same URL", at: application.value.place(of: "publicURL"))
            }
        }
        for application in configuredApplications {
            let resources = application.value["openid"]?["resources"]?.entries ?? []
            for resource in resources where owners[resource.key] != nil || audiences.contains(resource.key) {
                reader.report("a resource is not the URL or the audience of an application", at: resource.value.place)
            }
            for client in application.value["openid"]?["clients"]?.entries ?? [] {
                if audiences.contains(client.key) {
                    reader.report("a client has the audience of an application as its id", at: client.value.place)
                }
                let known = resources.map(\.key) + [audience(of: application)]
                for name in client.value["introspects"]?.items ?? [] where !known.contains(name.text ?? "") {
                    reader.report("is neither a resource nor the application's audience", at: name.place)
                }
            }
        }
    }

    /// Reports URLs of OpenID clients that the server would call without TLS.
    private func refusePlainHTTP(ofClientsIn application: ConfigurationNode, unless isDevelopment: Bool) {
        guard !isDevelopment else { return }
        for software in application["openid"]?["software"]?.entries ?? [] {
            guard let signer = software.value["statementIssuer"],
                signer["jwksURL"]?.text?.hasPrefix("https:") == false
            else { continue }
            reader.report("plain http needs server.development", at: signer.place(of: "jwksURL"))
        }
        for client in application["openid"]?["clients"]?.entries ?? [] {
            for key in ["backchannelLogoutURI", "jwksURL"]
            where client.value[key]?.text?.hasPrefix("https:") == false {
                reader.report("plain http needs server.development", at: client.value.place(of: key))
            }
        }
    }

    /// Creates an application.
    ///
    /// Its providers are created even if other settings of the application have problems, so that all problems are
    /// reported.
    private func application(
        _ name: String, _ node: ConfigurationNode, url: String, allowsPrivateHosts: Bool
    ) -> Configuration.Application? {
        var providers: [ConfiguredProvider] = []
        var retention: Duration?
        for entry in node["providers"]?.entries ?? [] {
            if entry.key == OwnClient.hostedProvider, node["openid"] != nil {
                reader.report(
                    "is the name of the application's own pages, which `openid` adds", at: entry.value.place)
            }
            guard let options: ProviderOptions = decoded(entry.value) else { continue }
            let context = ProviderContext(
                name: entry.key, applicationURL: url, audience: node["audience"]?.text ?? name,
                exposedClaims: options.expose,
                ports: reader.installed.ports.ports(
                    for: PortsOwner(application: name, provider: entry.key), allowsPrivateHosts: allowsPrivateHosts))
            let provider = reader.makeProvider(entry.key, from: entry.value, options: options, in: context)
            guard let provider else { continue }
            providers.append(provider)
            warnIfUndeliverable(provider, at: entry.value)
            guard (options.kind ?? entry.key) == "anonymous" else { continue }
            retention = retention ?? (decoded(entry.value) as GuestOptions?)?.retention
        }
        let registry = ProviderRegistry(
            installedKinds: Set(reader.installed.kinds.map { $0.kind }), configured: providers)
        guard let settings: ApplicationSettings = decoded(node) else { return nil }
        let dialects = DialectChecks(
            name: name, application: settings, providers: registry, node: node, reader: reader
        ).settings
        let application = Configuration.Application(
            name: name, settings, url: url, providers: registry, dialects: dialects, anonymousRetention: retention)
        if application.openID?.paths.contains(.blitz) == true, URLComponents(string: url)?.path.isEmpty == false {
            reader.warn(
                "apps of Blitz set a cookie with the path /blitz, which is not sent to \(url); give the application a "
                    + "`publicURL` of its own", at: node["openid"]?.place(of: "paths") ?? node.place)
        }
        if let openID = application.openID, openID.signsPeopleIn, !registry.signsInAtPages {
            reader.warn(
                "people cannot sign in at its pages; enable a provider with passwords, codes or pages of its own, "
                    + "such as `email` or `oidc`", at: node.place(of: "openid"))
        }
        return application
    }

    /// Warns of a provider that sends codes if nothing delivers them.
    ///
    /// It is not refused, because people who have a password can sign in without it.
    private func warnIfUndeliverable(_ provider: ConfiguredProvider, at node: ConfigurationNode) {
        let (section, keys): (String, String)
        switch provider.addressKind {
        case .email: (section, keys) = ("email", "`from` and `smtp`")
        case .phone: (section, keys) = ("sms", "`url`")
        case nil: return
        }
        guard root["delivery"]?[section] == nil else { return }
        reader.warn("sends nothing without `delivery.\(section)`; add it with \(keys)", at: node.place)
    }
}
