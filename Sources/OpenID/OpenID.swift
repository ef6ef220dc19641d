// The OpenID provider: other apps, the clients, sign people in with Gatehouse.
//
// A client sends the browser to the authorization endpoint. `RequestParameters` become a `ClientRequest`, or an
// `OAuthError`. The pure function `nextStep(for:)` decides which page the browser needs next; when none is left, the
// request ends with a code. `TokenGrants` exchanges the code for a client session and its tokens.
//
// Browser sessions and client sessions are rows of `sessions`, as those of the REST interface, and end by the same
// rules. This module has no HTTP, SQL or cryptography; other modules implement its ports.
