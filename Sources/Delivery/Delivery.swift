/// Delivery: how messages leave.
///
/// Use cases write a `Message` into the outbox, in the transaction of what it tells about. `OutboxWorker` takes it from
/// there under a lease, each channel in a lane of its own, and `MessageComposer` renders it from the topic's templates in
/// the reader's language. A `Mail` is carried away by the `MessageTransport` in force, `SMTPTransport` to a relay; a
/// `TextMessage`, counted against its budget, by the `TextTransport`, `GatewayTransport` to an HTTP gateway; under
/// `gatehouse dev` both by `DevelopmentInbox` to its page. What failed for now returns to the queue with a growing, random
/// delay (`RetryPolicy`), what was refused for good is given up and stays there to be seen.
///
/// `WebhookWorker` posts each account event to the webhooks that subscribed to it when it happened, signed, until a 2xx
/// acknowledges it. Webhooks and the gateway are reached through `HTTPPosting`, which `Outbound` implements; libcurl is
/// for SMTP alone.
///
/// Delivery is at least once: a worker that dies between the relay's 250 and its own mark leaves that one message to be
/// sent again, byte for byte the same and under the same Message-ID, so that mailboxes can tell.
