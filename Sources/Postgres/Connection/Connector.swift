import CLibPQ
import Glibc

/// Opens connections on short-lived threads, so that a host that doesn't answer can't block the reactor.
enum Connector {
    static func connect(slot: Int, attempt: Int, _ configuration: Database.Configuration, inbox: Inbox) {
        let isRunning = OwnThread.detached {
            switch open(configuration) {
            case .success(let link): inbox.post(.connected(slot: slot, attempt: attempt, link))
            case .failure(let error): inbox.post(.refused(slot: slot, attempt: attempt, reason: error.reason))
            }
        }
        if !isRunning { inbox.post(.refused(slot: slot, attempt: attempt, reason: "no thread left to connect")) }
    }

    /// Cancels the connection's statement; returns false if that could not be started.
    ///
    /// Once the cancellation request is complete, the reactor gets an `interrupted` message.
    static func interrupt(_ link: Link, slot: Int, attempt: Int, inbox: Inbox) -> Bool {
        guard let canceller = link.canceller() else { return false }
        return OwnThread.detached {
            canceller.cancel()
            inbox.post(.interrupted(slot: slot, attempt: attempt))
        }
    }

    private struct Refusal: Error { let reason: String }

    /// Opens a connection and blocks until it is established or has failed.
    ///
    /// In libpq, a later keyword overrides an earlier one, and the keywords of the URL count at the position of
    /// `dbname`.
    private static func open(_ configuration: Database.Configuration) -> Result<Link, Refusal> {
        // libpq's own message about a malformed URL might quote a password
        do throws(PostgresError) { try configuration.validate() } catch { return .failure(Refusal(reason: "\(error)")) }
        let parameters = [
            ("connect_timeout", "2"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "5000"),
            // Of several hosts, selects the current primary.
            ("target_session_attrs", "read-write"), ("fallback_application_name", "gatehouse"),
            ("dbname", configuration.url), ("client_encoding", "UTF8"),
        ]
        let texts = parameters.map { (strdup($0.0), strdup($0.1)) }
        defer {
            for (keyword, value) in texts {
                free(keyword)
                free(value)
            }
        }
        let keywords = texts.map { UnsafePointer($0.0) } + [nil]
        let values = texts.map { UnsafePointer($0.1) } + [nil]
        let expandURL: Int32 = 1
        guard let raw = PQconnectdbParams(keywords, values, expandURL) else {
            return .failure(Refusal(reason: "out of memory"))
        }
        let link = Link(owning: raw)
        guard PQstatus(raw) == CONNECTION_OK, PQsetnonblocking(raw, 1) == 0, PQenterPipelineMode(raw) == 1 else {
            return .failure(Refusal(reason: link.complaint))
        }
        return .success(link)
    }
}
