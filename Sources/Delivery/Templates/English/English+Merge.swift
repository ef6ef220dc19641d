extension English {
    static let accountsMerged = TemplateSource(
        subject: "Your accounts at {{application}} are one now",
        text: """
            Hello,

            Two accounts at {{application}} were merged into one. Whoever asked for it
            proved that both are theirs. It can be undone in the account's
            settings{{#until}}, until {{.}}{{/until}}.

            If it was you, there is nothing that you need to do.

            If it was not you, somebody else can read your mail or is in one of the
            accounts. Sign in, undo the merge and choose new passwords, for your
            mailbox too.
            """,
        html: """
            <p>Hello,</p>
            <p>Two accounts at {{application}} were merged into one. Whoever asked for it proved that both are theirs.
            It can be undone in the account's settings{{#until}}, until {{.}}{{/until}}.</p>
            <p>If it was you, there is nothing that you need to do.</p>
            <p><strong>If it was not you, somebody else can read your mail or is in one of the accounts.</strong> Sign
            in, undo the merge and choose new passwords, for your mailbox too.</p>
            """,
        sms: """
            {{#application}}Your accounts at {{application}} are one now.{{/application}}\
            {{^application}}Your accounts are one now.{{/application}} If it was not you, sign in and undo it.
            """)

    static let mergeUndone = TemplateSource(
        subject: "Your accounts at {{application}} are two again",
        text: """
            Hello,

            Two accounts at {{application}} that had been merged are two again, each
            with the ways to sign in that it had before.

            If it was you, there is nothing that you need to do.

            If it was not you, somebody else may be in your accounts. Ask for a new
            password where you sign in: that signs everybody out. Then choose a new
            password for your mailbox too.
            """,
        html: """
            <p>Hello,</p>
            <p>Two accounts at {{application}} that had been merged are two again, each with the ways to sign in that
            it had before.</p>
            <p>If it was you, there is nothing that you need to do.</p>
            <p><strong>If it was not you, somebody else may be in your accounts.</strong> Ask for a new password where
            you sign in: that signs everybody out. Then choose a new password for your mailbox too.</p>
            """,
        sms: """
            {{#application}}Your accounts at {{application}} are two again.{{/application}}\
            {{^application}}Your accounts are two again.{{/application}} If it was not you, sign in and check them.
            """)
}
