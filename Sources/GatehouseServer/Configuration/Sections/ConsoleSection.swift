internal import Accounts

extension ApplicationSettings {
    /// What administrators may change of an application.
    struct Console: SettingsSection {
        let switches: ApplicationPolicy.Switches

        static let settings = [
            Setting(
                "switches", .choice(ApplicationPolicy.Switches.allCases), default: "narrower",
                help: """
                    Which modes administrators may give a provider in place of the file's, for at most 30 days: `none`, \
                    `narrower` ones (`open` > `existing` > `linkOnly` > `off`), or `any`.
                    """)
        ]
    }
}
