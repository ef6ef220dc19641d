extension StepPage {
    /// A device that waits until the person allows or refuses it.
    package struct Device: Sendable {
        /// The account that the device would get into.
        package let account: Account
        /// The code that the device shows.
        package let userCode: String
        /// The name of the client that runs on the device.
        package let client: String
        /// Whether the client is not the operator's own.
        package let isForeign: Bool
        package let scopes: [Scope]
        /// The IP address of the device; `place` is where that is, if it is known.
        package let address: String
        package var place: String?
        /// The URLs of the client's privacy policy and its terms of service.
        package var policy, terms: String?

        package init(
            account: Account, userCode: String, client: String, isForeign: Bool, scopes: [Scope], address: String
        ) {
            (self.account, self.userCode, self.client) = (account, userCode, client)
            (self.isForeign, self.scopes, self.address) = (isForeign, scopes, address)
        }
    }

    func values(of device: Device) -> [String: Any] {
        var requester = ["address": device.address]
        requester["place"] = device.place
        var values = values(of: device.account).merging(
            [
                "client": device.client, "userCode": device.userCode, "isForeign": device.isForeign,
                "scopes": values(of: device.scopes), "requester": requester,
            ]) { $1 }
        (values["policy"], values["terms"]) = (device.policy, device.terms)
        return values
    }
}
