// What the scripts for Node share: the client as a file, its calls to a real server, and the mails that arrive.
import assert from "node:assert/strict";
import { inspect } from "node:util";

const [, , folder, server, host] = process.argv;
assert(Number(process.versions.node.split(".")[0]) >= 20, `Node ${process.version} is older than 20`);

export { assert, folder, host, server };
export const { Gatehouse, GatehouseError, Proof, memoryStorage, default: gatehouse } =
  await import(`${folder}/gatehouse.js`);
export const { Webcom, default: webcom } = await import(`${folder}/webcom-auth.js`);
export const defaults = { gatehouse, webcom };

/** Everything secret that a server has sent, and every URL that was called. */
const secrets = new Set(), urls = [];
/** What the process prints. */
const printed = [];
for (const name of ["log", "warn", "error", "info", "debug"]) {
  console[name] = (...values) => printed.push(values.map((value) => inspect(value, { depth: 9 })).join(" "));
}

/** Sends a call, and notes its URL and the tokens of its answer. */
export async function send(url, call) {
  urls.push(String(url));
  const answer = await fetch(url, call);
  // The export is read as it arrives.
  if (url.includes("/export")) return answer;
  const text = await answer.text();
  for (const [, token] of text.matchAll(/"(?:\w*Token|ticket)":"([^"]+)"/g)) secrets.add(token);
  return new Response(text || null, { status: answer.status, headers: answer.headers });
}

/** Adds what no URL of the server and nothing printed may contain. */
export const keepSecret = (/** @type {string} */ text) => secrets.add(text);

/** The error of a promise, whose texts contain nothing secret. */
export async function refusal(promise, code) {
  const error = await promise.then(() => undefined, (failure) => failure);
  assert(error instanceof GatehouseError, `${code} expected`);
  assert.equal(error.code, code, error.message);
  expectDiscreet(error);
  return error;
}

/** Whether the texts and dumps of a value contain no token. */
export function expectDiscreet(value) {
  const dumps = [JSON.stringify(value), inspect(value, { depth: 9, showHidden: true })];
  for (const text of [String(value), value?.stack ?? "", ...dumps]) {
    for (const secret of secrets) assert(!text?.includes(secret), `a token is in ${text}`);
  }
}

/** Ends a script: no URL and nothing printed contains a token. */
export function expectNoLeak() {
  assert(urls.length && secrets.size);
  for (const secret of secrets) {
    for (const text of [...urls, ...printed]) assert(!text.includes(secret), `a token is in ${text}`);
  }
}

/** The match in the newest mail or text message that has one, each only once. */
export async function mailed(to, pattern) {
  for (let attempt = 0; attempt < 500; attempt++) {
    const texts = await (await fetch(`${host}/mail?to=${encodeURIComponent(to)}`)).json();
    for (const text of texts) {
      const found = pattern.exec(text)?.[1];
      if (found && !used.has(found)) {
        used.add(found);
        return found;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`nothing for ${to} arrived`);
}
const used = new Set();
export const CODE = /(?:^|\D)(\d{6})(?:\D|$)/, TOKEN = /token=([\w-]+)/;

/** Follows a flow through a provider's pages as a browser does, and returns the address that it comes back to. */
export async function atProvider(/** @type {string} */ person, { url }) {
  await fetch(`${host}/person?is=${person}`);
  const page = await fetch(url, { redirect: "manual" });
  const callback = new URL(page.headers.get("location"));
  const back = await fetch(`${server}${callback.pathname}${callback.search}`, { redirect: "manual" });
  return back.headers.get("location");
}

let people = 0;
export const address = () => `p${process.pid}-${Date.now()}-${people++}@example.com`;
export const password = "correct horse battery staple", other = "quiet lantern over violet seas";

/** A client with a storage of its own. */
export const client = (options = {}) => new Gatehouse({ url: server, fetch: send, ...options });

/** The client of a person who has registered with a password. */
export async function registered(options) {
  const app = client(options), email = address();
  await app.register({ email, password });
  await app.verifyEmail(await mailed(email, TOKEN));
  return { app, email };
}

/** The clock by which the client counts, and the one that people set. */
export const clock = { shift: 0, wrong: 0 };
const now = performance.now.bind(performance), date = Date.now;
performance.now = () => now() + clock.shift;
Date.now = () => date() + clock.wrong;
