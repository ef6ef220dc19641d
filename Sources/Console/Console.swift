/// The pages of the console, on which administrators work.
///
/// A `ConsolePage` is a template of the folder `Templates` and the JSON that it shows, mostly answers of the admin API.
/// Words about acts, fields and empty lists are in the folder `Texts`. `HTTPAPI` serves the pages and takes their forms.
/// Everything except copy buttons, local times and texts about progress works without JavaScript.
package enum Console {}
