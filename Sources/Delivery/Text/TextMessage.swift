package import Foundation
package import ProviderKit

/// One text message to one phone.
package struct TextMessage: Sendable, Equatable {
    /// The message's; every attempt to send it carries the same.
    package let id: UUID
    package let application: String
    package let to: PhoneNumber
    package let text: String

    package init(id: UUID, application: String, to number: PhoneNumber, text: String) {
        self.id = id
        self.application = application
        to = number
        self.text = text
    }
}
