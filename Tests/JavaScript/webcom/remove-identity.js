// Create a connection to the back-end
var ref = new Webcom("<your-app>");
// Resume the authentication state
ref.resume();
// Delete the user identity
ref.removeIdentity()
.then(() => console.log("Identity deleted!"))
.catch(error => {
if (error.code === "TOKEN_TOO_OLD") {
console.log("The user must re-authenticate before deleting her/his identity");
} else {
console.log("Failed deleting the user identity!");
}
});
