internal import AnonymousProvider
internal import AppleProvider
internal import CustomTokenProvider
internal import EmailProvider
internal import GatehouseServer
internal import MobileNetworkProvider
internal import OpenIDConnectProvider
internal import PhoneProvider

/// The server, with every provider of this package.
///
/// Adding one is one line here; `ReadyProviders` lists the services that need an id and a secret alone.
@main
enum Main {
    static func main() async {
        await GatehouseServer.run(
            providers: [
                AnonymousProvider.self,
                EmailProvider.self,
                PhoneProvider.self,
                AppleProvider.self,
                OpenIDConnectProvider.self,
                OAuth2Provider.self,
                CustomTokenProvider.self,
                MobileNetworkProvider.self,
            ] + ReadyProviders.all)
    }
}
