package import Accounts

package struct NoSubscriptions: WebhookSubscriptions {
    package init() {}
    package var urls: [String] { [] }
    package func subscribers(to kind: AccountEvent.Kind) -> [WebhookSubscriber] { [] }
    package func logoutURIs(of application: Application.ID) -> [String: String] { [:] }
}
