internal import Accounts
internal import ProviderKit

extension EventSentences {
    static let accounts: [String: Entry] = [
        "account.created": Entry(
            "The account was created with {provider}.",
            sentences(
                [
                    .identityNew: "The account was created with {provider}, which named no address.",
                    .addressUnproven:
                        "The account was created with {provider}. It named an address without proof, so the account did not get it.",
                    .addressProven:
                        "The account was created with {provider}, which proved an address. There was no account to join.",
                    .addressNotJoined:
                        "The account was created with {provider}, which proved an address. The application joined no accounts by addresses.",
                ] as [LinkingRule: String])),
        "account.disabled": Entry("An administrator disabled the account."),
        "account.enabled": Entry(
            "An administrator enabled the account.",
            ["until": "The account was enabled again, because the time of its disabling was over."]),
        "account.profile-changed": Entry("An administrator changed the account's name or metadata."),
        "account.note-added": Entry("An administrator wrote a note about the account."),
        "account.revealed": Entry("An administrator looked at fields of the account that are masked otherwise."),
        "account.recovery-sent": Entry("An administrator sent a recovery link."),
        "account.recovered": Entry("The person used a recovery link."),
        "invitation.used": Entry("The account was opened by an invitation."),
        "account.access-changed": Entry("An administrator changed the account's roles or claims."),
        "account.deleted": Entry(
            "The deletion of the account was scheduled.",
            sentences(
                [
                    .owner: "The person deleted the account.", .admin: "An administrator deleted the account.",
                    .provider: "The provider reported that it deleted the account's last identity, so it was deleted.",
                    .lastIdentity: "The person removed the last identity, so the account was deleted.",
                    .guestSwitched: "The guest moved to another account, so this one was deleted.",
                    .idle: "The guest's account was not used for too long, so it was deleted.",
                    .displaced: "The account lost its idle phone number and its last way in, so it was deleted.",
                ] as [DeletionCause: String])),
        "account.restored": Entry("The account was restored."),
        "account.exported": Entry(
            "The account's data was exported.",
            ["owner": "The person exported their data.", "admin": "An administrator exported the person's data."]),
        "account.merged": Entry(
            "Two accounts were merged.",
            [
                "survivor": "The account absorbed another one of the same person.",
                "absorbed": "The account was absorbed by another one of the same person.",
            ]),
        "account.unmerged": Entry(
            "A merge was undone.",
            [
                "survivor": "A merge was undone: the account gave back what it had absorbed.",
                "absorbed": "A merge was undone: the account is one of its own again.",
            ]),
        "guest.upgraded": Entry("The guest's account became permanent."),
        "guest.moved": Entry("The guest moved to another account."),
        "number.recycled": Entry("The account lost a phone number that it had not used for too long."),
        "purge.run": Entry("An administrator ran the erasure of deleted accounts."),
    ]

    static let identities: [String: Entry] = [
        "identity.linked": Entry(
            "An identity of {provider} was linked.",
            sentences(
                [
                    .linkAsked: "The person linked an identity of {provider} while signed in.",
                    .guestUpgrade: "The guest linked an identity of {provider}.",
                    .addressOwned:
                        "An identity of {provider} proved an address of the account, and joined it at its first sign-in.",
                    .accountRestored:
                        "An identity of {provider} proved an address of the deleted account, joined it and restored it.",
                    .guestSwitch:
                        "A guest linked an identity of {provider} that proved an address of this account, and moved here.",
                    .guestMerge:
                        "A guest linked an identity of {provider} that proved an address of this account, which absorbed the guest.",
                ] as [LinkingRule: String])),
        "identity.unlinked": Entry("An identity of {provider} was removed."),
        "identity.address-changed": Entry("The address of an identity of {provider} was changed."),
        "identity.address-evicted": Entry(
            "Another person proved an address that an identity of {provider} had named without proof, so it was removed."
        ),
        "identity.quarantined": Entry(
            "A password was reset, so an identity of {provider} that was linked shortly before may not sign in until confirmed."
        ),
        "identity.confirmed": Entry("An identity of {provider} was confirmed and may sign in again."),
        "identity.locked": Entry("Sign-ins with {provider} were locked for some time after too many failures."),
    ]

    static let sessions: [String: Entry] = [
        "sign-in.refused": Entry(
            "A proof or a call was refused.",
            Dictionary(
                uniqueKeysWithValues: LinkingRule.allCases.map { rule in
                    (rule.rawValue, "A proof was refused. \(rule.reason).")
                }
            ).merging([
                "password": "A wrong password was entered.", "code": "A wrong or expired code was entered.",
                "codeLimit": "A code was refused after too many attempts.",
                "reauthentication.no-time":
                    "A proof was refused, because {provider} does not state when the person authenticated there.",
            ]) { $1 }),
        "session.opened": Entry(
            "The person signed in.",
            [
                "browser": "The person signed in in a browser.",
                "client": "The person signed in to an app through this server's pages.",
            ]),
        "session.ended": Entry(
            "A session ended.",
            sentences(
                [
                    .logout: "The person signed out.", .signedOut: "The person signed out of the browser.",
                    .revoked: "The person ended a session.",
                    .refreshReused: "A session was ended, because a used refresh token was presented again.",
                    .passwordReset: "A session was ended, because the password was reset.",
                    .passwordChanged: "A session was ended, because the password was changed.",
                    .accountDeleted: "A session was ended, because the account was deleted.",
                    .accountDisabled: "A session was ended, because the account was disabled.",
                    .codeReplayed: "A session was ended, because its code was presented again.",
                    .consentRevoked: "A session was ended, because the person withdrew what the client was allowed.",
                    .identityRemoved: "A session was ended, because its identity was removed.",
                    .addressProvenByAnother: "A session was ended, because another person proved the address.",
                    .guestUpgraded: "A session was ended, because the guest's account became permanent.",
                    .guestSwitched: "A session was ended, because the guest moved to another account.",
                    .merged: "A session was ended, because its account was merged into another one.",
                    .mergeUndone: "A session was ended, because a merge was undone.",
                    .numberRecycled: "A session was ended, because the account lost its idle phone number.",
                    .clientRevoked: "A session was ended, because its client was removed.",
                    .parentEnded: "A session was ended together with the browser's session.",
                    .instanceDeleted: "A session was ended, because the installation of the app was removed.",
                    .accessChanged: "A session was ended, because an administrator changed roles or claims.",
                    .administrator: "A session was ended by an administrator.",
                    .providerSwitched: "A session was ended, because its provider was switched off.",
                    .rebound: "A session was ended, because another person signed in on the installation of the app.",
                ] as [SessionEnd: String])),
        "sessions.ended": Entry("An administrator ended sessions of the account."),
        "session.refresh-reused": Entry(
            "A refresh token was presented a second time, which may mean that it was stolen."),
        "session.elevated": Entry("The PIN was entered, which unlocked a session for some time."),
        "qr.confirmed": Entry("The person allowed a sign-in at another device by a QR code."),
        "qr.refused": Entry("The person refused a sign-in at another device by a QR code."),
        "device.approved": Entry("The person allowed a sign-in at another device."),
        "device.denied": Entry("The person refused a sign-in at another device."),
        "native.used": Entry("An app took its signed-in person to a browser."),
    ]

    static let secrets: [String: Entry] = [
        "password.set": Entry("A password was set."),
        "password.removed": Entry("A password was removed."),
        "password.change-required": Entry("An administrator required a new password."),
        "pin.set": Entry("A PIN was set."),
        "pin.changed": Entry("The PIN was changed."),
        "pin.removed": Entry("The PIN was removed."),
        "pin.wrong": Entry("A wrong PIN was entered."),
        "pin.void": Entry("The PIN became void after too many failures."),
    ]

    static let clients: [String: Entry] = [
        "consent.granted": Entry("The person allowed a client access."),
        "consent.revoked": Entry("The person withdrew what a client was allowed."),
        "client.registered": Entry("A client registered itself."),
        "client.deleted": Entry("A client was removed."),
        "client.refused": Entry("A client could not be authenticated."),
        "instance.bound": Entry("An installation of an app was bound to the account."),
        "logout.undelivered": Entry("A client could not be told of a sign-out."),
        "token.introspected": Entry("A client inspected tokens of the API."),
    ]

    static let administration: [String: Entry] = [
        "admin.invited": Entry("A link was made with which a person becomes an administrator."),
        "admin.granted": Entry("The person was made an administrator, or got another role."),
        "admin.revoked": Entry("The person lost a role of administrators."),
        "admin.identity-admitted": Entry("The person's role counts for another way to sign in from now on."),
        "admin.refused": Entry("An administrator lacked the right for a call."),
        "service-key.created": Entry("A service key was made."),
        "service-key.rotated": Entry("The secret of a service key was replaced."),
        "service-key.revoked": Entry("A service key was revoked."),
        "keys.rotated": Entry("An administrator rotated the signing keys."),
        "key.retired": Entry("An administrator retired a signing key."),
        "accounts.searched": Entry("An administrator searched for accounts."),
        "invitation.sent": Entry("An administrator sent an invitation."),
        "limits.searched": Entry("An administrator looked at the locks of an address."),
        "limits.lifted": Entry("An administrator lifted the locks of an address."),
        "audit.exported": Entry("An administrator exported the audit."),
        "webhook.tested": Entry("An administrator tested a webhook."),
        "webhook.replayed": Entry("An administrator had events sent to a webhook again."),
        "delivery.retried": Entry("An administrator had the delivery of an event tried again."),
        "message.retried": Entry("An administrator had the delivery of a message tried again."),
        "erasure.retried": Entry("An administrator had the processors of an erasure asked again."),
        "provider.switched": Entry("An administrator switched a provider."),
        "provider.switch-ended": Entry("The switch of a provider ended."),
        "provider.diagnosed": Entry("An administrator had a provider checked."),
        "provider.tried": Entry("An administrator tried {provider} with an account of their own there."),
        "provider.mode-changed": Entry("The configuration changed the mode of a provider."),
    ]

    /// The sentences by the raw values of their cases.
    private static func sentences<Case: RawRepresentable<String> & Hashable>(
        _ sentences: [Case: String]
    ) -> [String: String] {
        Dictionary(uniqueKeysWithValues: sentences.map { ($0.key.rawValue, $0.value) })
    }
}
