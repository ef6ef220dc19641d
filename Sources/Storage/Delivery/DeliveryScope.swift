package import Foundation
internal import Postgres

/// The accounts whose events and tokens a worker takes from the queues.
package enum DeliveryScope: Sendable {
    case all
    /// Only these accounts; the closure is called each time a worker takes work.
    case accounts(@Sendable () -> Set<UUID>)

    /// An array of uids, or null for all.
    var bind: Bind {
        switch self {
        case .all: .uuids(nil)
        case .accounts(let uids): .uuids(Array(uids()))
        }
    }
}
