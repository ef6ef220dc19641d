package import Foundation

/// The wall clock of this process.
///
/// The database's clock decides what expires in the database.
package protocol TimeSource: Sendable {
    func now() -> Date
}

package struct SystemTime: TimeSource {
    package init() {}

    package func now() -> Date {
        Date()
    }
}
