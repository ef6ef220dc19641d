const form = document.querySelector("form");
const button = form.querySelector("button");
const result = document.getElementById("result");
const token = new URLSearchParams(location.search).get("token");

function say(text, isGood) {
  result.className = "result " + (isGood ? "good" : "bad");
  result.textContent = text;
}

function problem(status, error) {
  const reasons = error.details && error.details.reasons;
  if (error.code === "TOO_WEAK_PASSWORD" && Array.isArray(reasons)) return weakness(reasons);
  if (error.code === "INVALID_TOKEN") {
    return "This link does not work any more. It works once, for a limited time; ask for a new one in the app.";
  }
  if (status === 429) return "Too many attempts. Wait a little, then try again.";
  return error.message || "Something went wrong. Try again later.";
}

function weakness(reasons) {
  const words = {
    tooShort: "it is too short",
    tooLong: "it is too long",
    tooGuessable: "it is too easy to guess; use several unrelated words, or let your browser suggest one"
  };
  const found = reasons.map(reason => words[reason] || "it is too weak");
  return "Choose another password: " + found.join(", and ") + ".";
}

async function send(fields) {
  button.disabled = true;
  say("", true);
  try {
    const response = await fetch(form.dataset.action, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Accept": "application/json" },
      body: JSON.stringify({ token, ...fields }),
      credentials: "omit", cache: "no-store", redirect: "error"
    });
    if (response.ok) return true;
    const answer = await response.json().catch(() => ({}));
    say(problem(response.status, answer.error || {}), false);
  } catch {
    say("The server can't be reached. Check your connection, then try again.", false);
  }
  button.disabled = false;
  return false;
}

function finish(text) {
  history.replaceState(null, "", location.pathname);
  form.hidden = true;
  for (const note of document.querySelectorAll(".before")) note.hidden = true;
  say(text, true);
  result.focus();
}

if (!token) {
  button.disabled = true;
  say("This link is not complete. Open it again from the mail, or copy all of it.", false);
}
