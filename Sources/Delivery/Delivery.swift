// Delivery: how mails, text messages, account events and token revocations leave the server.
//
// Use cases write a `Message` into the outbox, in the transaction that changes the data. A `QueueWorker` leases due
// entries and passes them to the queue's `QueueHandler`. `MessageHandler` renders a message from the templates in the
// recipient's language (`MessageComposer`) and sends it by mail (`SMTPTransport`) or as a text message
// (`GatewayTransport`); under `gatehouse dev`, the `DevelopmentInbox` keeps both instead. `EventHandler` posts signed
// account events to webhooks, and `RevocationHandler` revokes tokens at upstream services. A failed attempt is repeated
// after a growing, random delay (`RetryPolicy`). An entry that is refused permanently is given up, and stays in its
// table with the reason.
//
// Webhooks and the SMS gateway are reached through `HTTPPosting`, which `Outbound` implements; libcurl is used for SMTP
// only.
//
// Delivery is at least once: if a worker dies after the relay has accepted a message but before the outbox is updated,
// the same bytes are sent again with the same Message-ID, so that mail servers can drop the repetition.
