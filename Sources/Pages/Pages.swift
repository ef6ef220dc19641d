/// The pages that people see while they sign in to other apps.
///
/// A `StepPage` is a value with everything that its page shows. It is rendered by the template of its step in the folder
/// `Templates`, with the texts of its language from the folder `Texts`: each text is a partial with the text's key as
/// its name. The pages work without JavaScript and load nothing.
package enum Pages {}
