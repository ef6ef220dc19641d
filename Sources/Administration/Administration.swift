// The rules of administrators: who may do what, and what each act does.
//
// `ServiceKeys` recognises the program that calls the admin API and returns an `Administrator`: an actor with scopes in
// one application. Each operation of `HTTPAPI/Administration` names the scope that it needs and calls one use case here.
// A use case that changes something takes an `AdministrativeAct`, and the statement that makes the change writes the act
// to the audit, so that no act goes unrecorded. `AdminGrants` keeps the roles of people, which the command line and the
// console use. Texts about people are masked by `Mask` before they leave this target, except in `reveal` and exports.
