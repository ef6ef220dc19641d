// Create a connection to the back-end
var ref = new Webcom("<your-app>");
// Log out
ref.logout(function (error) {
if (error) {
console.log("The log-out failed: " + error.message);
} else {
console.log("Logged out successfully!");
}
});
