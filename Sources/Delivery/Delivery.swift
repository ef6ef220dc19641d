/// Delivery: how messages leave.
///
/// Use cases write a `Message` into the outbox, in the transaction of what it tells about. `OutboxWorker` takes it from
/// there under a lease, `MessageComposer` renders subject, text and HTML from the topic's templates, and the
/// `MessageTransport` in force carries the resulting `Mail` away: `SMTPTransport` to a relay, `DevelopmentInbox` to the
/// page of `gatehouse dev`. What failed for now returns to the queue with a growing, random delay (`RetryPolicy`), what
/// was refused for good is given up and stays there to be seen.
///
/// Delivery is at least once: a worker that dies between the relay's 250 and its own mark leaves that one message to be
/// sent again, byte for byte the same and under the same Message-ID, so that mailboxes can tell.
