internal import AnonymousProvider
internal import AppleProvider
internal import CustomTokenProvider
internal import EmailProvider
internal import GatehouseServer
internal import MobileNetworkProvider
internal import OpenIDConnectProvider
internal import PhoneProvider

/// The server with every provider of this package.
///
/// To add a provider, add one line here; `ReadyProviders` lists the services that need only an id and a secret.
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
