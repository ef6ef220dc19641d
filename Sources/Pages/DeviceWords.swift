/// What devices are called in words.
package enum DeviceWords {
    /// The name of the kind of device on which an app is installed, as the app has stated it.
    package static func name(ofType type: String, in language: PageLanguage) -> String {
        let templates = PageTemplates.all[language]
        return templates?.render("deviceType.\(type)", [:]) ?? templates?.render("deviceType.other", [:]) ?? type
    }
}
