const password = document.getElementById("password");
const repeat = document.getElementById("repeat");
const show = document.getElementById("show");

function mark(field, isWrong) {
  field.setAttribute("aria-invalid", isWrong);
  if (isWrong) field.focus();
}

show.addEventListener("change", () => {
  for (const field of [password, repeat]) field.type = show.checked ? "text" : "password";
});

form.addEventListener("submit", async event => {
  event.preventDefault();
  const differs = password.value !== repeat.value;
  mark(repeat, differs);
  if (differs) return say("The two are not the same.", false);
  if (await send({ newPassword: password.value })) {
    password.value = repeat.value = "";
    return finish("Your new password is set. You can go back to the app and sign in with it.");
  }
  password.focus();
});
