form.addEventListener("submit", async event => {
  event.preventDefault();
  if (await send({{sent}})) finish("Your address is confirmed. You can go back to the app and sign in.");
});
