const list = document.getElementById("messages");
const empty = document.getElementById("empty");
const state = document.getElementById("state");

function showLocalTimes(root) {
  for (const time of root.querySelectorAll("time")) time.textContent = new Date(time.dateTime).toLocaleString();
}

async function ask(type) {
  const response = await fetch(location.pathname, { headers: { Accept: type }, cache: "no-store" });
  if (!response.ok) throw new Error(response.status);
  return response;
}

async function takeNewOnes() {
  const page = new DOMParser().parseFromString(await (await ask("text/html")).text(), "text/html");
  const all = [...page.querySelectorAll("#messages > details")];
  const fresh = all.filter(one => !document.getElementById(one.id));
  for (const one of fresh.reverse()) {
    showLocalTimes(one);
    list.prepend(document.importNode(one, true));
  }
}

async function refresh() {
  try {
    const { messages } = await (await ask("application/json")).json();
    const wanted = new Set(messages.map(message => "m-" + message.id));
    for (const shown of [...list.children]) if (!wanted.has(shown.id)) shown.remove();
    const isNew = wanted.size > list.children.length;
    if (isNew) await takeNewOnes();
    empty.hidden = wanted.size > 0;
    say(isNew ? "New: " + list.querySelector(".subject").textContent : "");
  } catch {
    say("The server does not answer; trying again.");
  }
  setTimeout(refresh, 2000);
}

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

showLocalTimes(document);
setTimeout(refresh, 2000);
