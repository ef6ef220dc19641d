package import Foundation
internal import Postgres

/// Whose events and tokens a worker takes from the queues.
package enum DeliveryScope: Sendable {
    case all
    /// Only those about these accounts, which are read at each take.
    case accounts(@Sendable () -> Set<UUID>)

    /// An array of uids, null for all.
    var bind: Bind {
        switch self {
        case .all: .uuids(nil)
        case .accounts(let uids): .uuids(Array(uids()))
        }
    }
}
