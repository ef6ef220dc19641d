// swift-tools-version: 6.3
import PackageDescription

func gatehouse(_ product: String) -> Target.Dependency { .product(name: product, package: "gatehouse") }

let package = Package(
    name: "harbour",
    dependencies: [.package(name: "gatehouse", path: "../..")],
    targets: [
        .target(name: "HarbourProvider", dependencies: [gatehouse("ProviderKit")]),
        .executableTarget(
            name: "HarbourServer",
            dependencies: ["HarbourProvider", gatehouse("GatehouseServer"), gatehouse("GatehouseProviders")]),
        .testTarget(
            name: "HarbourProviderTests",
            dependencies: ["HarbourProvider", gatehouse("ProviderKit"), gatehouse("GatehouseTesting")]),
    ]
)
