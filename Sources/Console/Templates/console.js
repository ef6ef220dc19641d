// Conveniences. All pages and forms of the console work without this script.

// Times in the browser's own zone, as tooltips.
for (const time of document.querySelectorAll("time[datetime]")) {
  const date = new Date(time.dateTime);
  if (!Number.isNaN(date.getTime())) {
    time.title = date.toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" });
  }
}

// Buttons that copy a text of the page.
for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

// A form is sent once, and its button shows that it is under way.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "1";
    // A form that answers with a file leaves its page as it is.
    setTimeout(() => delete form.dataset.sent, 5000);
    const button = event.submitter;
    if (button && form.dataset.busy) button.textContent = form.dataset.busy;
  });
}
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// Focus what was refused or done, so that screen readers read it first.
const outcome = document.querySelector("#problem, [role=status]");
if (outcome) {
  outcome.focus();
}
