// Delivery: how mails, text messages, account events and token revocations leave the server.
//
// Use cases write a `Message` into the outbox, in the transaction that it reports on. A `QueueWorker` leases due entries
// and passes them to the queue's `QueueHandler`: `MessageHandler` renders a message from the templates in its reader's
// language (`MessageComposer`) and sends it by mail (`SMTPTransport`) or as text (`GatewayTransport`); `gatehouse dev`
// keeps both in the `DevelopmentInbox`. `EventHandler` posts signed account events to webhooks, and `RevocationHandler`
// revokes tokens at upstream services. A failed attempt is repeated after a growing, random delay (`RetryPolicy`); an
// entry that is refused permanently is given up, and stays in its table with the reason.
//
// Webhooks and the SMS gateway are reached through `HTTPPosting`, which `Outbound` implements; libcurl is for SMTP alone.
//
// Delivery is at least once: if a worker dies after the relay has accepted a message and before the outbox is updated,
// the same bytes are sent again under the same Message-ID, so that mail servers can drop the repetition.
