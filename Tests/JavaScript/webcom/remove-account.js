// Create a connection to the back-end
var ref = new Webcom("<your-app>");
// Resume the authentication state
ref.resume();
// Delete the user account
ref.removeAccount()
.then(() => console.log("Account deleted!"))
.catch(error => {
if (error.code === "TOKEN_TOO_OLD") {
console.log("The user must re-authenticate before deleting her/his account");
} else {
console.log("Failed deleting the user account!");
}
});
