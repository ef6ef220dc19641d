/// The pages that people see while they sign in to other apps.
///
/// A `StepPage` is a value with everything that its page shows. The template of its step in the folder `Templates`
/// renders it with the texts of its language in the folder `Texts`: each text is a partial named by the text's key.
/// The pages work without JavaScript and load nothing but a client's logo.
package enum Pages {}
