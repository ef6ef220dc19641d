import CLibPQ

extension Reactor {
    func listen(_ listener: Listener) {
        let connection = Connection(slot: connections.count, role: .listening(listener))
        connections.append(connection)
        connect(connection)
    }

    func stopListening(_ listener: Listener) {
        guard let connection = connections.first(where: { $0.listener === listener }) else { return }
        lose(connection, nil)
        connection.role = .retired
        connection.retryAt = .never
    }

    func sendListen(_ connection: Connection, _ listener: Listener) {
        guard let link = connection.link,
            let channel = PQescapeIdentifier(link.raw, listener.channel, listener.channel.utf8.count)
        else { return lose(connection, connection.link?.complaint) }
        defer { PQfreemem(channel) }
        guard connection.sendCommand("LISTEN " + String(cString: channel), as: .listen(sentAt: now)), connection.sync()
        else {
            return lose(connection, link.complaint)
        }
    }

    func didListen(_ connection: Connection, sentAt: Nanoseconds) {
        // first the event, so that the owner knows itself outdated before `isCurrent` turns true
        connection.listener?.onEvent(.connected)
        connection.listener?.confirm(sentAt: sentAt)
        connection.nextProbe = sentAt + Listener.probeInterval
    }

    func didStopListening(_ connection: Connection) {
        connection.listener?.lose()
        connection.listener?.onEvent(.disconnected)
    }

    func deliverNotifications(_ connection: Connection, _ link: Link) {
        guard let listener = connection.listener else { return }
        while let notification = PQnotifies(link.raw) {
            listener.onEvent(.notification(String(cString: notification.pointee.extra)))
            PQfreemem(notification)
        }
    }

    /// A half-open TCP connection shows in nothing but the missing answer.
    func probe(_ connection: Connection) {
        guard connection.nextProbe <= now else { return }
        if let sentAt = connection.oldestProbe, now - sentAt >= Listener.probeTimeout {
            return lose(connection, "no answer to a probe")
        }
        connection.nextProbe = now + Listener.probeInterval
        guard connection.sendCommand("SELECT 1", as: .probe(sentAt: now)), connection.sync() else {
            return lose(connection, connection.link?.complaint)
        }
    }
}
