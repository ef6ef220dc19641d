import AnonymousProvider
import EmailProvider
import GatehouseServer
import HarbourProvider

@main
enum Main {
    static func main() async {
        await GatehouseServer.run(providers: [AnonymousProvider.self, EmailProvider.self, HarbourProvider.self])
    }
}
