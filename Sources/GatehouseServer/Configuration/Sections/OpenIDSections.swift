internal import OpenID
internal import ProviderKit

/// The settings of an application's OpenID provider in the file.
struct OpenIDSection: SettingsSection {
    let clients: [String: ClientSection]
    let resources: [String: ResourceSection]
    let software: [String: SoftwareSection]
    let registration: RegistrationSection
    let sso: BrowserSessionsSection
    let qr: QRSection
    let pages: PagesSection
    let requestLifetime: Duration
    let paths: Set<Issuer.Place>

    static let settings = [
        Setting("clients", .clients, default: [:], help: "The apps that sign people in with this application, by id."),
        Setting(
            "resources", .resources, default: [:], help: "The services that take access tokens, by URI (RFC 8707)."),
        Setting(
            "software", .software, default: [:],
            help: "The mobile apps whose installations register themselves, each as a client of its own, by id."),
        Setting(
            "registration", .section(RegistrationSection.self), default: [:],
            help: "Whether other clients may register themselves (RFC 7591)."),
        Setting("sso", .section(BrowserSessionsSection.self), default: [:], help: "How long browsers stay signed in."),
        Setting(
            "qr", .section(QRSection.self), default: [:],
            help: "Signing in at a browser with an app that is signed in on a phone."),
        Setting("pages", .section(PagesSection.self), default: [:], help: "What pages show of the operator."),
        Setting(
            "requestLifetime", .duration(.seconds(1) ... .seconds(86_400)), default: "30m",
            help: "How long a person may take to answer the pages of one authorization request."),
        Setting(
            "paths", .list(of: .choice([Issuer.Place.blitz])), default: [],
            help: """
                Further paths of the endpoints. With `blitz`, apps for Blitz Identity Provider find them below \
                `/blitz`, under an issuer of that name (docs/phones.md).
                """),
    ]

    func validate() throws(SettingsError) {
        for (id, client) in clients.sorted(by: { $0.key < $1.key }) {
            if let unknown = client.resources.first(where: { resources[$0] == nil }) {
                throw SettingsError(
                    setting: "clients", reason: "\(id) names the resource \(unknown), which is not configured")
            }
            let known = client.resources.reduce(
                into: Set(StandardScope.allCases.map(\.rawValue) + StandardScope.qrNames)
            ) { known, resource in
                known.formUnion(resources[resource]?.scopes.keys.map { $0 } ?? [])
            }
            // Consent is kept as scopes and resources; a scope that two resources have would be consented to at both.
            var names: Set<String> = []
            for name in client.resources.flatMap({ resources[$0]?.scopes.keys.sorted() ?? [] }) where !client.firstParty
            {
                guard names.insert(name).inserted else {
                    throw SettingsError(setting: "clients", reason: "\(id) has two resources with the scope \(name)")
                }
            }
            if client.scopes?.contains(StandardScope.native.rawValue) == true {
                throw SettingsError(setting: "clients", reason: "\(id) has the scope native, which is for `software`")
            }
            if let unknown = client.scopes?.first(where: { !known.contains($0) }) {
                throw SettingsError(
                    setting: "clients", reason: "\(id) names the scope \(unknown), which does not exist")
            }
        }
        let settings = value()
        let clients = Array(settings.clients.values) + settings.software.values.map(\.template)
        guard qr.enabled || !clients.contains(where: { !$0.scopes.isDisjoint(with: StandardScope.qrNames) }) else {
            throw SettingsError(setting: "qr", reason: "is off, but a client has the scope qr")
        }
    }

    func value() -> OpenIDSettings {
        var settings = OpenIDSettings(
            clients: Dictionary(uniqueKeysWithValues: clients.map { ($0.key, $0.value.client(id: $0.key)) }),
            resources: resources.mapValues { .init(accessLifetime: $0.accessLifetime, scopes: $0.scopes) })
        settings.software = Dictionary(uniqueKeysWithValues: software.map { ($0.key, $0.value.software(id: $0.key)) })
        settings.registration = registration.value
        settings.browserSessions.idle = sso.idle
        settings.browserSessions.lifetime = sso.lifetime
        settings.browserSessions.remember = sso.remember
        settings.qr = qr.value
        settings.pages = pages.value
        settings.requestLifetime = requestLifetime
        settings.paths = paths
        return settings
    }

    struct ResourceSection: SettingsSection {
        let accessLifetime: Duration?
        let scopes: [String: [String: String]]

        static let settings = [
            Setting(
                "accessLifetime", .duration(.seconds(1) ... .seconds(86_400)), help: "How long its tokens are valid."),
            Setting("scopes", .scopes, default: [:], help: "The text that people see for each scope, by language."),
        ]
    }

    struct BrowserSessionsSection: SettingsSection {
        let idle: Duration
        let lifetime: Duration
        let remember: OpenIDSettings.BrowserSessions.Remember

        static let settings = [
            Setting(
                "idle", .positiveDuration, default: "12h",
                help: "How long a browser that is not remembered may stay unused."),
            Setting(
                "lifetime", .positiveDuration, default: "30d", help: "How long a remembered browser stays signed in."),
            Setting(
                "remember", .choice(OpenIDSettings.BrowserSessions.Remember.allCases), default: "ask",
                help: "Whether browsers are remembered: as the person asks, always or never."),
        ]

        func validate() throws(SettingsError) {
            guard idle <= lifetime else { throw SettingsError(setting: "idle", reason: "is longer than lifetime") }
        }
    }
}
