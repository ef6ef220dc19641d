package import Accounts
internal import ProviderKit

/// The device that asks for a sign-in that another device answers.
package struct HandoffRequester: Sendable, Codable, Equatable {
    package let address: String
    /// As the device names itself.
    package let agent: String?

    package init(_ client: Client) { (address, agent) = (client.address, client.device) }

    package var words: UserAgent { UserAgent(agent) }

    /// The device as a client, which is identified by its network.
    var client: Client { Client(device: agent, address: address) }

    /// The device as a notice to the account's owner shows it.
    package func noticed(by places: any PlaceDirectory) -> NoticedDevice {
        NoticedDevice(words: words.words, address: address) { [address] languages in
            places.place(of: address, languages: languages)?.line
        }
    }
}

/// The state of a sign-in that another device answers.
package enum HandoffState: String, Sendable, CaseIterable {
    /// No other device has looked at it.
    case waiting
    /// One has, and now belongs to it; it has not answered yet.
    case scanned
    case confirmed, refused
    /// The browser has taken the session.
    case used
    /// Not stored, but computed from the time.
    case expired
}
