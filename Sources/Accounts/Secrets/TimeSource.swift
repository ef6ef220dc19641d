package import Foundation

/// The wall clock of this process; the expiry of stored rows is checked by the database's clock instead.
package protocol TimeSource: Sendable {
    func now() -> Date
}

package struct SystemTime: TimeSource {
    package init() {}
    package func now() -> Date { Date() }
}
