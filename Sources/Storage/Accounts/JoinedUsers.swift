internal import Postgres

/// The statement that reads the users of several callers.
enum JoinedUsers {
    /// The accounts of the application `$1`, each with its oldest verified addresses and its providers by age.
    ///
    /// A part of statements instead of a view, because Citus finds the node that stores the rows only if each table is
    /// compared with `$1` itself.
    static let users: StaticString = """
        accounts a
        CROSS JOIN LATERAL (
            SELECT (SELECT d.address FROM addresses d
                     WHERE d.application_id = $1 AND d.uid = a.uid AND d.kind = 'email'
                     ORDER BY d.verified_at, d.address LIMIT 1) AS email,
                   (SELECT d.address FROM addresses d
                     WHERE d.application_id = $1 AND d.uid = a.uid AND d.kind = 'phone'
                     ORDER BY d.verified_at, d.address LIMIT 1) AS phone,
                   coalesce(array_agg(p.provider ORDER BY p.since, p.provider), '{}') AS providers,
                   coalesce(bool_and(p.is_guest), false) AS is_anonymous
              FROM (SELECT i.provider, min(i.created_at) AS since, bool_and(i.is_guest) AS is_guest
                      FROM identities i
                     WHERE i.application_id = $1 AND i.uid = a.uid
                     GROUP BY i.provider) p) u
        """

    /// Selects the first columns that `Row.nextUser` reads from `users`; those of `accessColumns` follow.
    static let userColumns: StaticString = """
        SELECT a.uid, u.email, u.phone, a.display_name, u.is_anonymous, u.providers, a.metadata::text, a.created_at,
               a.updated_at
        """

    /// The last columns that `Row.nextUser` reads, after `userColumns`; others may follow.
    static let accessColumns: StaticString = """
        , a.roles, a.claims::text
        """

    static let select = Statement(
        .read, userColumns, accessColumns, "FROM", users,
        "WHERE a.application_id = $1 AND a.uid = ANY ($2) AND a.purge_after IS NULL")
}
