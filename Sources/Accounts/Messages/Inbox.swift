/// Messages that `gatehouse dev` keeps instead of sending them.
package protocol Inbox: Sendable {
    /// The kept messages, the newest first.
    func messages() -> [DeliveredMessage]
}
