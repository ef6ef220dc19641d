package import Postgres

/// Every migration there is, oldest first, embedded so that the server carries its own schema.
///
/// Forward only; each runs in one transaction and is safe while the previous version of the server still serves. One
/// that was released is never edited: the database remembers its checksum.
package enum Migrations {
    // The compiler names an embedded file after it, a leading digit replaced.
    package static let all: [Migration] = [
        Migration(version: 1, name: "foundation", sql: text(PackageResources._001_foundation_sql)),
        Migration(version: 2, name: "delegated sign-in", sql: text(PackageResources._002_delegated_sign_in_sql)),
        Migration(version: 3, name: "rate limits", sql: text(PackageResources._003_rate_limits_sql)),
        Migration(version: 4, name: "one-time codes", sql: text(PackageResources._004_one_time_codes_sql)),
        Migration(version: 5, name: "text messages", sql: text(PackageResources._005_text_messages_sql)),
        Migration(version: 6, name: "webhooks", sql: text(PackageResources._006_webhooks_sql)),
        Migration(version: 7, name: "linking", sql: text(PackageResources._007_linking_sql)),
        Migration(version: 8, name: "erasure", sql: text(PackageResources._008_erasure_sql)),
        Migration(version: 9, name: "audit", sql: text(PackageResources._009_audit_sql)),
        Migration(version: 10, name: "traces", sql: text(PackageResources._010_traces_sql)),
        Migration(version: 11, name: "distribution", sql: text(PackageResources._011_distribution_sql)),
        Migration(version: 12, name: "erasure queue", sql: text(PackageResources._012_erasure_queue_sql)),
        Migration(version: 13, name: "audit clock", sql: text(PackageResources._013_audit_clock_sql)),
        Migration(version: 14, name: "fresh flows", sql: text(PackageResources._014_fresh_flows_sql)),
        Migration(version: 15, name: "quarantine", sql: text(PackageResources._015_quarantine_sql)),
        Migration(version: 16, name: "limits", sql: text(PackageResources._016_limits_sql)),
        Migration(version: 17, name: "leaving", sql: text(PackageResources._017_leaving_sql)),
        Migration(version: 18, name: "session renewal", sql: text(PackageResources._018_session_renewal_sql)),
    ]

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
