/// What the account of an invited person gets.
package struct Invitation: Sendable, Equatable {
    /// The name that the administrator knows; the person may choose another one.
    package let displayName: String?
    package let access: AccountAccess

    package init(displayName: String?, access: AccountAccess) {
        (self.displayName, self.access) = (displayName, access)
    }

    /// The roles and claims, without roles that the application has removed from its list since.
    func access(under rules: AccessRules) -> AccountAccess {
        guard let listed = rules.roles else { return access }
        return AccountAccess(roles: access.roles.filter(listed.contains), claims: access.claims)
    }
}
