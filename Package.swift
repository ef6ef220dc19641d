// swift-tools-version: 6.3
import PackageDescription

// Set by `make test`, which treats warnings as errors, for example about an import with more access than needed. Other
// builds accept warnings, so that those of a newer compiler do not stop the build of a release.
let isStrict = Context.environment["GATEHOUSE_STRICT"] != nil

let house: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

extension Target.Dependency {
    static let crypto: Self = .product(name: "Crypto", package: "swift-crypto")
    static let cryptoExtras: Self = .product(name: "CryptoExtras", package: "swift-crypto")
    static let hummingbird: Self = .product(name: "Hummingbird", package: "hummingbird")
    static let lifecycle: Self = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let logging: Self = .product(name: "Logging", package: "swift-log")
    static let nioCore: Self = .product(name: "NIOCore", package: "swift-nio")
    static let nioPosix: Self = .product(name: "NIOPosix", package: "swift-nio")
    static let nioTLS: Self = .product(name: "NIOTLS", package: "swift-nio")
    static let nioSSL: Self = .product(name: "NIOSSL", package: "swift-nio-ssl")
    static let nioHTTPTypes: Self = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
    static let nioEmbedded: Self = .product(name: "NIOEmbedded", package: "swift-nio")
    static let nioHTTP1: Self = .product(name: "NIOHTTP1", package: "swift-nio")
    static let httpClient: Self = .product(name: "AsyncHTTPClient", package: "async-http-client")
    static let mustache: Self = .product(name: "Mustache", package: "swift-mustache")
    static let httpTypes: Self = .product(name: "HTTPTypes", package: "swift-http-types")
}

/// A library target, by default in the folder of its name under `Sources/`.
func module(
    _ name: String, path: String? = nil, imports dependencies: [Target.Dependency],
    plugins: [Target.PluginUsage] = []
) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: house, plugins: plugins)
}

/// A provider: a target in a folder under `Plugins/` that can import `ProviderKit` only.
func plugin(_ name: String) -> Target {
    module("\(name)Provider", path: "Plugins/\(name)", imports: ["ProviderKit"])
}

func tests(_ name: String, of dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: house)
}

let plugins = ["Anonymous", "Email", "Phone", "Apple", "OpenIDConnect", "CustomToken", "MobileNetwork"]

// Linux is the only platform of the server. `platforms` can list only Apple's: those of the apps with `GatehouseClient`.
let package = Package(
    name: "gatehouse",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "GatehouseClient", targets: ["GatehouseClient"]),
        .executable(name: "gatehouse", targets: ["Gatehouse"]),
        .executable(name: "gatehouse-bench", targets: ["GatehouseBench"]),
        .library(name: "GatehouseServer", targets: ["GatehouseServer"]),
        .library(name: "ProviderKit", targets: ["ProviderKit"]),
        .library(name: "GatehouseProviders", targets: plugins.map { "\($0)Provider" }),
        .library(name: "GatehouseTesting", targets: ["GatehouseTesting"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        // For apps; it depends on nothing, so that they fetch and build none of the server.
        module("GatehouseClient", imports: []),
        module("ProviderKit", imports: ["CIDN2", "CPhoneNumber", .crypto]),
        module("Accounts", imports: ["ProviderKit"]),
        module("Administration", imports: ["Accounts", "ProviderKit"]),
        module("OpenID", imports: ["Accounts", "ProviderKit"]),
        module("QRCode", imports: ["CQRCode"]),
        module("MaxMind", imports: ["OpenID", "ProviderKit", "CMaxMindDB"]),
        module("Pages", imports: ["ProviderKit", "QRCode", .mustache], plugins: ["EmbedFiles"]),
        module("Console", imports: ["Pages", "ProviderKit", .mustache], plugins: ["EmbedFiles"]),
        module("Tokens", imports: ["Accounts", "ProviderKit", .crypto, .cryptoExtras]),
        module(
            "Outbound",
            imports: ["ProviderKit", .httpClient, .nioCore, .nioPosix, .nioHTTP1, .nioSSL, .logging]),
        module("Passwords", imports: ["Accounts", "ProviderKit", "CArgon2", "CZxcvbn", .crypto]),
        module("Postgres", imports: ["CLibPQ", .logging, .crypto]),
        module("Migrations", path: "migrations", imports: ["Postgres"], plugins: ["EmbedFiles"]),
        module("Storage", imports: ["Accounts", "Administration", "OpenID", "Postgres", "ProviderKit"]),
        module(
            "Delivery",
            imports: ["Accounts", "ProviderKit", "CCurl", .crypto, .lifecycle, .logging, .mustache],
            plugins: ["EmbedFiles"]),
        module(
            "HTTPAPI",
            imports: [
                "Accounts", "Administration", "Console", "OpenID", "Pages", "ProviderKit", .hummingbird, .httpTypes,
                .nioCore, .nioHTTPTypes, .logging, .mustache,
            ], plugins: ["EmbedFiles"]),
        module(
            "GatehouseServer",
            imports: [
                "HTTPAPI", "Storage", "Delivery", "Tokens", "Passwords", "Administration", "OpenID", "Outbound",
                "Accounts", "Pages", "Postgres", "MaxMind", "Migrations", "ProviderKit", "CMalloc",
                .crypto, .hummingbird, .lifecycle, .logging, .nioCore, "Yams",
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .nioSSL, .nioTLS,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "Gatehouse",
            dependencies: ["GatehouseServer"] + plugins.map { .target(name: "\($0)Provider") },
            swiftSettings: house),
        module(
            "GatehouseTesting",
            imports: [
                "ProviderKit", "Accounts", "GatehouseServer", "Postgres", "Tokens", .crypto, .cryptoExtras, .logging,
            ]),

        // A benchmark tool, which is not part of the product.
        .executableTarget(
            name: "GatehouseBench",
            dependencies: [
                "Accounts", "GatehouseServer", "GatehouseTesting", "Migrations", "Passwords", "Postgres", "ProviderKit",
                "Storage", "Tokens", "CArgon2", .crypto, .cryptoExtras, .httpClient, .httpTypes, .hummingbird, .logging,
                .nioCore, .nioHTTP1, .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ] + plugins.map { .target(name: "\($0)Provider") },
            path: "Tests/GatehouseBench",
            swiftSettings: house),

        .executableTarget(name: "EmbedFilesTool", path: "Sources/EmbedFiles/Tool", swiftSettings: house),
        .plugin(
            name: "EmbedFiles", capability: .buildTool(), dependencies: ["EmbedFilesTool"],
            path: "Sources/EmbedFiles/Plugin"),

        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CMaxMindDB", pkgConfig: "libmaxminddb", providers: [.apt(["libmaxminddb-dev"])]),
        .systemLibrary(name: "CQRCode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CZxcvbn", providers: [.apt(["libzxcvbn-dev"])]),
        // Its header is plain C, so that no target needs C++ interoperability. libphonenumber has no pkg-config file.
        .target(
            name: "CPhoneNumber", linkerSettings: [.linkedLibrary("phonenumber"), .linkedLibrary("protobuf")]),
    ] + plugins.map(plugin) + [
        tests("GatehouseClientTests", of: ["GatehouseClient"]),
        tests("ProviderKitTests", of: ["ProviderKit", "GatehouseTesting"]),
        tests("AccountsTests", of: ["Accounts", "ProviderKit"]),
        tests("OpenIDTests", of: ["Accounts", "OpenID"]),
        tests("PagesTests", of: ["Pages"]),
        tests("MaxMindTests", of: ["MaxMind", "GatehouseTesting", "OpenID"]),
        tests("PostgresTests", of: ["Postgres", "GatehouseServer", "GatehouseTesting", .logging]),
        tests(
            "StorageTests",
            of: ["Storage", "Postgres", "Migrations", "Accounts", "ProviderKit", "GatehouseTesting", .logging]),
        tests("TokensTests", of: ["Tokens", "Accounts", "ProviderKit", .crypto, .cryptoExtras]),
        tests(
            "OutboundTests",
            of: [
                "Outbound", "GatehouseTesting", "ProviderKit", .nioCore, .nioPosix, .nioHTTP1, .logging, .nioSSL,
            ]),
        tests("PasswordsTests", of: ["Passwords", "Accounts", "CArgon2", .crypto]),
        tests("OpenIDConnectTests", of: ["OpenIDConnectProvider", "ProviderKit", "Tokens", .crypto]),
        tests(
            "DeliveryTests",
            of: ["Delivery", "GatehouseTesting", "Accounts", "Outbound", "ProviderKit", .lifecycle, .logging]),
        tests(
            "ProviderConformanceTests",
            of: [
                "AnonymousProvider", "AppleProvider", "CustomTokenProvider", "MobileNetworkProvider",
                "OpenIDConnectProvider", "GatehouseTesting", "ProviderKit",
            ]),
        tests(
            "HTTPAPITests",
            of: [
                "HTTPAPI", "Accounts", "Pages", "ProviderKit", .httpTypes, .hummingbird, .logging, .nioCore,
                .nioEmbedded, .nioHTTPTypes,
            ]),
        tests(
            "GatehouseServerTests",
            of: [
                "GatehouseServer", "GatehouseBench", "GatehouseTesting", "AnonymousProvider", "AppleProvider",
                "CustomTokenProvider", "EmailProvider", "MobileNetworkProvider", "OpenIDConnectProvider",
                "PhoneProvider", "GatehouseClient", "Accounts", "Administration", "Console", "Delivery", "HTTPAPI",
                "Migrations", "OpenID", "Outbound", "Pages", "Passwords", "Postgres", "ProviderKit", "Storage",
                "Tokens", .hummingbird, .httpTypes, .logging, .lifecycle, .nioCore, .nioEmbedded, .nioHTTP1,
                .httpClient, .crypto,
            ]),
    ],
    swiftLanguageModes: [.v6]
)
