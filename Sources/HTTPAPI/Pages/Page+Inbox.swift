extension Page {
    /// The mails and texts that `gatehouse dev` would have sent; `server` is the address for the example call.
    ///
    /// The page asks for the JSON every two seconds. When that names a message that it does not show, it takes the new
    /// ones out of its own HTML, so that what is open stays open and markup is made in one place only.
    ///
    /// A mail's HTML is shown in a frame without scripts and without an origin; its inline styles are why the policy
    /// allows those here: a frame made from text inherits the policy of its page.
    static func inbox(_ inbox: InboxPayload, server: String, nonce: PageNonce = PageNonce()) -> Page {
        let page = Page(
            title: "Inbox",
            main: """
                <h1>Inbox</h1>
                <p class="quiet">Mails and texts that this development server would have sent.
                <span id="state" role="status" aria-live="polite"></span></p>
                <section id="empty"\(inbox.messages.isEmpty ? "" : " hidden")>
                <p>Nothing yet. Codes and links appear here by themselves as soon as somebody asks for one. Try:</p>
                <pre tabindex="0">\(registration(at: server))</pre>
                </section>
                <div id="messages">
                \(inbox.messages.map(message).joined())</div>
                """,
            style: style, script: script, nonce: nonce, isWide: true)
        let policy = policy(scriptAllowedBy: nonce, style: "'unsafe-inline'", images: "data:")
        return Page(html: page.html, contentSecurityPolicy: policy)
    }

    private static func registration(at server: String) -> String {
        """
        curl \(server)\(base)/auth/register \\
          -H 'Content-Type: application/json' \\
          -d '{"email": "ann@example.com", "password": "seven quiet marmots"}'
        """
    }

    private static func message(_ message: InboxPayload.Message) -> HTML {
        """
        <details id="m-\(message.id)">
        <summary>
        <span class="subject">\(message.subject ?? firstLine(of: message.text))</span>
        <span class="quiet">\(message.kind == .sms ? "Text message" : "Mail") to <b>\(message.to)</b></span>
        <time class="quiet" datetime="\(message.sentAt.text)">\(message.sentAt.text)</time>
        </summary>
        <p class="quiet envelope">From \(message.from), application \(message.application)</p>
        <div class="parts">
        <div class="text">\(HTML(linking: message.text))</div>
        \(message.html.map(frame) ?? "")</div>
        </details>

        """
    }

    /// The links of the mail open in a new window, free of the frame's restrictions: the pages that they lead to work.
    private static func frame(_ html: String) -> HTML {
        let document = "<!doctype html><meta charset=\"utf-8\"><base target=\"_blank\">" + html
        return """
            <iframe title="The mail's HTML" sandbox="allow-popups allow-popups-to-escape-sandbox" \
            referrerpolicy="no-referrer" srcdoc="\(document)"></iframe>

            """
    }

    private static func firstLine(of text: String) -> String {
        String(text.split(whereSeparator: \.isNewline).first?.prefix(80) ?? "")
    }

    private static let style: HTML = #"""
        details { margin: 0 0 .5rem; background: var(--sheet); border: 1px solid var(--line); border-radius: .5rem; }
        summary { display: flex; flex-wrap: wrap; gap: .125rem .75rem; align-items: baseline; padding: .75rem 1rem;
          border-radius: .5rem; cursor: pointer; list-style: none; }
        summary::-webkit-details-marker { display: none; }
        .subject { display: flex; flex: 1 1 100%; font-weight: 600; overflow-wrap: anywhere; }
        .subject::before { content: "\25B8\2002"; color: var(--quiet); }
        details[open] .subject::before { content: "\25BE\2002"; }
        summary time { margin-left: auto; font-variant-numeric: tabular-nums; }
        summary b { font-weight: 500; color: var(--ink); overflow-wrap: anywhere; }
        .envelope { margin: 0; padding: .75rem 1rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
        .parts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem;
          padding: .75rem 1rem 1rem; }
        .text { white-space: pre-wrap; overflow-wrap: anywhere; }
        iframe { width: 100%; height: 22rem; background: #fff; color-scheme: light; border: 1px solid var(--line);
          border-radius: .375rem; resize: vertical; }
        pre { padding: 1rem; overflow-x: auto; background: var(--sheet); border: 1px solid var(--line);
          border-radius: .5rem; }

        """#

    private static let script: HTML = #"""

        const list = document.getElementById("messages");
        const empty = document.getElementById("empty");
        const state = document.getElementById("state");

        function showLocalTimes(root) {
          for (const time of root.querySelectorAll("time")) time.textContent = new Date(time.dateTime).toLocaleString();
        }

        async function ask(type) {
          const response = await fetch(location.pathname, { headers: { Accept: type }, cache: "no-store" });
          if (!response.ok) throw new Error(response.status);
          return response;
        }

        async function takeNewOnes() {
          const page = new DOMParser().parseFromString(await (await ask("text/html")).text(), "text/html");
          const all = [...page.querySelectorAll("#messages > details")];
          const fresh = all.filter(one => !document.getElementById(one.id));
          for (const one of fresh.reverse()) {
            showLocalTimes(one);
            list.prepend(document.importNode(one, true));
          }
        }

        async function refresh() {
          try {
            const { messages } = await (await ask("application/json")).json();
            const wanted = new Set(messages.map(message => "m-" + message.id));
            for (const shown of [...list.children]) if (!wanted.has(shown.id)) shown.remove();
            const isNew = wanted.size > list.children.length;
            if (isNew) await takeNewOnes();
            empty.hidden = wanted.size > 0;
            say(isNew ? "New: " + list.querySelector(".subject").textContent : "");
          } catch {
            say("The server does not answer; trying again.");
          }
          setTimeout(refresh, 2000);
        }

        function say(text) {
          if (state.textContent !== text) state.textContent = text;
        }

        showLocalTimes(document);
        setTimeout(refresh, 2000);

        """#
}
