// The calls of the Webcom library by their own names, against a real server.
import {
  CODE, Proof, TOKEN, Webcom, address, assert, atProvider, client, clock, expectDiscreet, expectNoLeak, folder, host,
  keepSecret, mailed, memoryStorage, other, password, registered, server,
} from "./support.mjs";

const HOUR = 3_600_000;

// What browsers have, and Node has not.
const events = new EventTarget();
Object.assign(globalThis, {
  addEventListener: events.addEventListener.bind(events), removeEventListener: events.removeEventListener.bind(events),
});

/** The calls that the library has sent, and whether there is a network. */
const sent = [], network = globalThis.fetch;
let isOnline = true;
globalThis.fetch = async (url, call) => {
  if (!String(url).startsWith(server)) return network(url, call);
  sent.push(`${call.method} ${new URL(url).pathname.replace(/.*\/api\/v1/, "")}`);
  if (!isOnline) throw new TypeError("no network");
  return network(url, call);
};
/** The calls since the last question. */
const calls = () => sent.splice(0).filter((call) => !/refresh|providers/.test(call));

/** A reference, and what its registered callback hears. */
function reference(name = "demo", options = {}) {
  const ref = new Webcom(`${server}/base/${name}`, options), heard = [];
  const callback = (error, auth) => heard.push(error ? error.code : auth && `${auth.provider} ${auth.uid}`);
  ref.registerAuthCallback(callback);
  return { ref, heard, callback };
}

/** What a call's own callback gets. */
const outcome = (call) => new Promise((resolve) => {
  call((error, auth) => resolve(error ? error.code : auth && auth.uid));
});

/** Makes the present sign-in too old. */
async function passAnHour() {
  await network(`${host}/pass?seconds=3600`);
  clock.shift += HOUR;
}
const customToken = async (sub) => {
  const { token } = await (await network(`${host}/custom?sub=${sub}`)).json();
  keepSecret(token);
  return token;
};

// The first reference to a database says where its session is.
const storage = memoryStorage(), key = `gatehouse:${server}/apps/demo/api/v1`;
const { ref, heard, callback } = reference("demo", { storage });
assert.equal(await outcome((done) => ref.resume(done)), null);
assert.deepEqual(heard.splice(0), [null]);

// A guest, whom a code makes permanent: a link is heard, too.
const guest = await ref.authAnonymously();
assert.equal(guest.provider, "anonymous");
assert(storage.getItem(key).includes(guest.uid));
const email = address(), code = await ref.sendCode({ email });
const linked = await ref.authWithCode(code, await mailed(email, CODE));
assert.deepEqual([linked.uid, linked.provider, linked.providerUid], [guest.uid, "email", email]);
assert.deepEqual(heard.splice(0), [`anonymous ${guest.uid}`, `email ${guest.uid}`]);
assert.equal(await ref.logout(), undefined);
assert.deepEqual(heard.splice(0), [null]);
assert.equal(storage.getItem(key), undefined);

// The same by a token of the app's own server; each error is heard, too.
assert.equal(await outcome((done) => ref.authWithCustomToken("nonsense", done)), "INVALID_TOKEN");
const custom = await ref.authWithCustomToken(await customToken("42"));
assert.deepEqual([custom.provider, custom.providerUid], ["custom", "42"]);
assert.deepEqual(heard.splice(0), ["INVALID_TOKEN", `custom ${custom.uid}`]);
const unread = await ref.sendCode({ email: address() });
assert.equal(await outcome((done) => ref.authWithCode(unread, "none", done)), "INVALID_CREDENTIALS");
assert.deepEqual(heard.splice(0), ["INVALID_CREDENTIALS"]);

// An identity whose account somebody else has is not theirs.
const { app: someone, email: theirs } = await registered();
const theirCode = await ref.sendCode({ email: theirs });
const foreign = await outcome(async (done) => ref.authWithCode(theirCode, await mailed(theirs, CODE), done));
assert.equal(foreign, "IDENTITY_IN_USE");
heard.length = 0;

// After TOKEN_TOO_OLD the next sign-in proves again who it is, in each way.
await passAnHour();
await assert.rejects(ref.removeAccount(), { code: "TOKEN_TOO_OLD" });
calls();
assert.equal(await outcome(async (done) => ref.authWithCustomToken(await customToken("42"), done)), custom.uid);
assert.deepEqual(calls(), ["POST /auth/reauthenticate"]);
assert.deepEqual(heard.splice(0), [`custom ${custom.uid}`]);
const second = address(), toSecond = await ref.sendCode({ email: second });
assert.equal((await ref.authWithCode(toSecond, await mailed(second, CODE))).uid, custom.uid);
assert.deepEqual(heard.splice(0), [`email ${custom.uid}`]);
await passAnHour();
calls();
// Without a refusal before, a link that comes too late is tried as a proof of who is there.
assert.equal((await ref.authWithCustomToken(await customToken("42"))).uid, custom.uid);
assert.deepEqual(calls(), ["POST /auth/identities/custom", "POST /auth/reauthenticate"]);
await passAnHour();
// A new identity is none; the app hears that the session is too old, and not that the token is wrong.
assert.equal(await outcome(async (done) => ref.authWithCustomToken(await customToken("43"), done)), "TOKEN_TOO_OLD");
await assert.rejects(ref.removeIdentity(), { code: "TOKEN_TOO_OLD" });
const proof = await ref.sendCode({ email: second });
assert.equal((await ref.authWithCode(proof, await mailed(second, CODE))).uid, custom.uid);
heard.length = 0;
await ref.removeAccount();
assert.deepEqual(heard.splice(0), [null]);

// A password proves again who is signed in, signs in another account, and says what is wrong with itself.
const { email: ada } = await registered(), { email: grace } = await registered();
calls();
const first = await ref.authWithPassword({ email: ada, password });
assert.deepEqual(calls(), ["POST /auth/login"]);
await passAnHour();
await assert.rejects(ref.removeIdentity(), { code: "TOKEN_TOO_OLD" });
calls();
assert.equal((await ref.authWithPassword({ email: ada, password })).uid, first.uid);
assert.deepEqual(calls(), ["POST /auth/reauthenticate"]);
const mistyped = await outcome((done) => ref.authWithPassword({ email: ada, password: other }, done));
assert.equal(mistyped, "INVALID_CREDENTIALS");
assert.deepEqual(calls(), ["POST /auth/reauthenticate"]);
assert.deepEqual(heard.splice(0), [`email ${first.uid}`, `email ${first.uid}`, "INVALID_CREDENTIALS"]);
const next = await ref.authWithPassword({ email: grace, password, rememberMe: false });
assert.notEqual(next.uid, first.uid);
assert.deepEqual(calls(), ["POST /auth/reauthenticate", "POST /auth/login"]);
assert.equal(storage.getItem(key), undefined);
assert.equal((await ref.authWithPassword({ email: grace, password, rememberMe: true })).uid, next.uid);
assert(storage.getItem(key).includes(next.uid));
assert.deepEqual(heard.splice(0), [`email ${next.uid}`, `email ${next.uid}`]);

// An address with a password joins who is signed in, with the token of its mail.
const third = address();
assert.equal(await outcome((done) => ref.createUser({ email: third, password }, done)), next.uid);
assert.equal((await ref.verifyEmail(await mailed(third, TOKEN))).uid, next.uid);
assert.deepEqual(heard.splice(0), [`email ${next.uid}`]);

// Without anybody, it is an account of its own; old apps get the codes that they know.
await ref.logout();
const old = new Webcom(`${server}/base/demo`, { legacyCodes: true }), fourth = address();
assert.equal(await outcome((done) => old.createUser({ email: fourth, password }, done)), null);
assert.equal(await outcome((done) => old.authWithPassword({ email: fourth, password }, done)), "UNVERIFIED_ACCOUNT");
assert.equal(await outcome((done) => old.createUser({ email: ada, password }, done)), "EMAIL_TAKEN");
assert.equal(await outcome((done) => ref.createUser({ email: ada, password }, done)), "EXISTING_IDENTITY");
assert.equal(await outcome((done) => old.authWithPassword({ email: ada, password: other }, done)), "INVALID_PASSWORD");
const fresh = await outcome(async (done) => old.verifyEmail(await mailed(fourth, TOKEN), done));
assert(fresh && fresh !== next.uid);
await old.logout();
heard.length = 0;

// The number of the mobile network.
const { token: assertion } = await (await network(`${host}/custom?phone=${encodeURIComponent("+33612345678")}`)).json();
const carrier = await ref.authWithMobileNetwork(undefined, { assertion });
assert.equal(carrier.provider, "carrier");
await ref.logout();
heard.length = 0;

// While a popup is open, the changes of other calls are heard; what the popup changes, after its own callback.
const popup = { closed: false, close() {}, location: { replace(url) { popup.url = url; } } };
globalThis.open = () => popup;
const redirectUri = `${host}/app.html`;
const visit = outcome((done) => ref.authWithOAuth({ provider: "corp", redirectUri }, (error, auth) => {
  heard.push("its own");
  done(error, auth);
}));
while (!popup.url) await new Promise((resolve) => setTimeout(resolve, 10));
await ref.authWithPassword({ email: ada, password });
await ref.logout();
assert.deepEqual(heard.splice(0), [`email ${first.uid}`, null]);
const back = await atProvider(`grace${process.pid}`, popup), state = new URL(back).searchParams.get("state");
const channel = new BroadcastChannel(`gatehouse:flow:${state}`);
channel.postMessage(back);
const popped = await visit;
channel.close();
assert.deepEqual(heard.splice(0), ["its own", `corp ${popped}`]);
await ref.logout();
heard.length = 0;

// Databases are independent of each other.
const photos = reference("photos");
const visitor = await photos.ref.authAnonymously();
assert.deepEqual(photos.heard, [`anonymous ${visitor.uid}`]);
await ref.authWithPassword({ email: ada, password });
await ref.logout();
assert.deepEqual(heard.splice(0), [`email ${first.uid}`, null]);
assert.deepEqual([photos.heard.length, await photos.ref.token().then((text) => text.length > 100)], [1, true]);
await photos.ref.logout();

// Providers may have other names than their kinds.
const named = reference("named"), anybody = await named.ref.authAnonymously(), fifth = address();
const toFifth = await named.ref.sendCode({ email: fifth });
const joined = await named.ref.authWithCode(toFifth, await mailed(fifth, CODE));
assert.deepEqual([joined.uid, joined.provider], [anybody.uid, "password"]);
assert.equal((await named.ref.authWithCustomToken(await customToken("7"))).provider, "legacy");
const sixth = address();
await named.ref.createUser({ email: sixth, password });
await named.ref.verifyEmail(await mailed(sixth, TOKEN));
assert.equal((await named.ref.authWithPassword({ email: sixth, password })).uid, anybody.uid);
await named.ref.logout();

// The end of a session at the server is heard.
const device = client({ url: `${server}/apps/demo` });
await ref.authWithPassword({ email: ada, password });
await device.signIn(Proof.password({ email: ada, password }));
await device.signOut("others");
clock.shift += HOUR;
await assert.rejects(ref.token());
assert.deepEqual(heard.splice(0), [`email ${first.uid}`, null]);

// Who is not registered any more hears nothing.
ref.unregisterAuthCallback(callback);
await ref.authWithPassword({ email: ada, password });
await ref.logout();
assert.deepEqual(heard, []);

// Without a network the state is kept and nothing said, until there is one.
await ref.authWithPassword({ email: ada, password });
const { Webcom: Restarted } = await import(`${folder}/webcom-auth.js?restarted`);
const restarted = new Restarted(`${server}/base/demo`, { storage: { ...storage } }), resumed = [];
restarted.registerAuthCallback((error, auth) => resumed.push(error ?? auth?.uid ?? null));
isOnline = false;
sent.length = 0;
restarted.resume((error, auth) => resumed.push(error ?? auth?.uid ?? null));
while (!sent.some((call) => call.includes("refresh"))) await new Promise((resolve) => setTimeout(resolve, 10));
await new Promise((resolve) => setTimeout(resolve, 1_500));
assert.deepEqual(resumed, []);
assert(storage.getItem(key).includes(first.uid));
isOnline = true;
const waiting = setInterval(() => events.dispatchEvent(new Event("online")), 50);
while (resumed.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
clearInterval(waiting);
assert.deepEqual(resumed, [first.uid, first.uid]);

// A storage that may not be read holds nobody, which is known at once.
const { Webcom: Forbidden } = await import(`${folder}/webcom-auth.js?forbidden`);
const getItem = () => { throw new Error("forbidden"); };
const forbidden = new Forbidden(`${server}/base/demo`, { storage: { ...memoryStorage(), getItem } }), told = [];
forbidden.registerAuthCallback((error, auth) => told.push([error, auth]));
await forbidden.resume((error, auth) => told.push([error, auth]));
assert.deepEqual(told, [[null, null], [null, null]]);
assert.equal((await forbidden.authWithPassword({ email: ada, password })).uid, first.uid);

await someone.signOut();
expectDiscreet(ref);
expectNoLeak();
process.stdout.write("ok\n");
