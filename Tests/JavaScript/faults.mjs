// What the client does when the network, the server, the clock or the storage fails, against a real server.
import {
  Gatehouse, Proof, Webcom, assert, client, clock, defaults, expectDiscreet, expectNoLeak, memoryStorage, password,
  refusal, registered, send, server,
} from "./support.mjs";

const HOUR = 3_600_000;
const refusing = (status, retryAfter, text = '{"error":{"code":"OVERLOADED","message":"Busy"}}') => () =>
  new Response(text, { status, headers: retryAfter ? { "Retry-After": String(retryAfter) } : {} });

/** A guest whose calls a test can fail: `fault` replaces the answer of the next calls to a path. */
async function guest(options = {}) {
  const state = { refreshes: [], heard: [], faults: [] };
  state.fetch = async (url, call) => {
    if (url.endsWith("/refresh")) state.refreshes.push(JSON.parse(call.body).refreshToken);
    const fault = state.faults.findIndex(({ path }) => url.endsWith(path));
    return fault < 0 ? send(url, call) : state.faults.splice(fault, 1)[0].answer(url, call);
  };
  state.fault = (path, answer, times = 1) => {
    for (let i = 0; i < times; i++) state.faults.push({ path, answer });
  };
  state.app = client({ fetch: state.fetch, ...options });
  state.app.onChange(({ type, reason }) => state.heard.push(reason ? `${type} ${reason}` : type));
  await state.app.signIn(Proof.anonymous());
  state.uid = state.app.session.user.id;
  return state;
}
const lost = async (url, call) => {
  await send(url, call);
  throw new TypeError("the connection was lost");
};
const settled = () => new Promise((resolve) => setTimeout(resolve, 50));
const down = () => { throw new TypeError("no network"); };
const late = (milliseconds) => async (url, call) => {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return send(url, call);
};

// A thousand calls with an expired token share one refresh, also if its answer is lost: the same token is sent again.
{
  const { app, refreshes, heard, uid, fault } = await guest();
  clock.shift += HOUR;
  fault("/refresh", lost);
  const users = await Promise.all(Array.from({ length: 1_000 }, () => app.user()));
  assert(users.every(({ id }) => id === uid));
  assert.equal(refreshes.length, 2);
  assert.equal(new Set(refreshes).size, 1);
  assert.deepEqual(heard, ["signedIn", "refreshed"]);
  assert.equal((await app.sessions()).length, 1);
}

// Before the end of its life the token is renewed beside the calls, which do not wait.
{
  const { app, refreshes, fault } = await guest();
  clock.shift += HOUR * 0.85;
  fault("/refresh", late(300));
  const before = app.currentAccessToken;
  assert.equal(await app.accessToken(), before);
  assert.equal(refreshes.length, 1);
  while (app.currentAccessToken === before) await new Promise((resolve) => setTimeout(resolve, 20));
}

// Without a network the session is kept and the failure said; then all goes on.
{
  const { app, heard, uid, fault } = await guest();
  clock.shift += HOUR;
  fault("/refresh", down, 3);
  await refusal(app.user(), "NETWORK_ERROR");
  assert.equal(app.session.user.id, uid);
  assert.equal(heard.at(-1), "refreshFailed");
  assert.equal((await app.user()).id, uid);
}

// A busy server is asked again after `Retry-After`; a long one fails at once, and nothing is sent before its end.
{
  const { app, refreshes, heard, uid, fault } = await guest();
  clock.shift += HOUR;
  fault("/refresh", refusing(503, 1));
  assert.equal((await app.user()).id, uid);
  assert.equal(refreshes.length, 2);
  clock.shift += HOUR;
  fault("/refresh", refusing(503, 120));
  assert.equal((await refusal(app.user(), "OVERLOADED")).retryAfter, 120);
  assert.equal((await refusal(app.user(), "OVERLOADED")).status, 503);
  assert.equal(refreshes.length, 3);
  assert.equal(heard.at(-1), "refreshFailed");
  clock.shift += 121_000;
  assert.equal((await app.user()).id, uid);
}

// `Retry-After` may be a time, which counts from that of the answer.
{
  const { app, refreshes, fault } = await guest();
  clock.shift += HOUR;
  const time = (seconds) => new Date(1_900_000_000_000 + seconds * 1000).toUTCString();
  fault("/refresh", () => new Response("Busy", { status: 503, headers: { "Retry-After": time(90), Date: time(0) } }));
  for (let i = 0; i < 2; i++) assert.equal((await refusal(app.user(), "UNEXPECTED_ANSWER")).retryAfter, 90);
  assert.equal(refreshes.length, 1);
  clock.shift += 91_000;
  fault("/refresh", () => new Response("Busy", { status: 429, headers: { "Retry-After": "soon" } }));
  assert.equal((await refusal(app.user(), "UNEXPECTED_ANSWER")).retryAfter, undefined);
}

// A token that the app's own server has refused is replaced, once for all who say so.
{
  const { app, refreshes } = await guest();
  const first = await app.accessToken(), second = await app.accessToken({ insteadOf: first });
  assert.notEqual(second, first);
  const others = await Promise.all([first, first].map((insteadOf) => app.accessToken({ insteadOf })));
  assert.deepEqual([...others, await app.accessToken()], [second, second, second]);
  assert.equal(refreshes.length, 1);
}

// A refusal that is not the server's own signs nobody out.
{
  const { app, uid, fault } = await guest();
  clock.shift += HOUR;
  fault("/refresh", refusing(401, undefined, "<html>Sign in to the hotel's network</html>"));
  await refusal(app.user(), "UNEXPECTED_ANSWER");
  fault("/refresh", refusing(429, 60, '{"error":{"code":"RATE_LIMITED","message":"Wait"}}'));
  await refusal(app.user(), "RATE_LIMITED");
  assert.equal(app.session.user.id, uid);
}

// A clock that is wrong by an hour, and jumps, changes nothing.
{
  const { app, refreshes, uid } = await guest();
  for (const wrong of [HOUR, -HOUR, 0]) {
    clock.wrong = wrong;
    assert.equal((await app.user()).id, uid);
  }
  assert.equal(refreshes.length, 0);
}

// A server that answers late: the call fails after its time, the session is kept, and the late answer costs nothing.
{
  const { app, refreshes, uid, fault } = await guest({ timeout: 400 });
  clock.shift += HOUR;
  fault("/refresh", late(900), 3);
  await refusal(app.user(), "NETWORK_ERROR");
  assert.equal(app.session.user.id, uid);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal((await app.user()).id, uid);
  assert.equal(new Set(refreshes).size, 1);
}

// A refresh whose answer is lost goes on with the token that another tab has stored meanwhile: the server would take the
// old one for a stolen one.
{
  const storage = { ...memoryStorage(), shared: true };
  const { app, refreshes, heard, uid, fault } = await guest({ storage });
  clock.shift += HOUR;
  fault("/refresh", async (url, call) => {
    await send(url, call);
    const other = client({ storage: { ...storage } });
    await other.accessToken({ insteadOf: await other.accessToken() });
    throw new TypeError("the connection was lost");
  });
  assert.equal((await app.user()).id, uid);
  assert.equal(refreshes.length, 2);
  assert.notEqual(refreshes[0], refreshes[1]);
  assert(!heard.includes("refreshFailed"));
}

// A storage that is full, or not there: the session is kept in memory and the failure said, once.
{
  const values = memoryStorage();
  let isFull = false;
  const storage = { ...values, setItem: async (key, value) => {
    if (isFull) throw new Error("full");
    values.setItem(key, value);
  } };
  const { app, heard, uid } = await guest({ storage });
  isFull = true;
  clock.shift += HOUR;
  assert.equal((await app.user()).id, uid);
  await settled();
  assert.deepEqual(heard, ["signedIn", "refreshed", "storageFailed"]);
  // The refresh token before the last one must not be found later.
  assert.equal(values.getItem(`gatehouse:${server}/api/v1`), undefined);
  isFull = false;
  clock.shift += HOUR;
  assert.equal((await app.user()).id, uid);
  await settled();
  assert(heard.includes("stored"));
  const restarted = client({ storage: { ...storage } });
  assert.equal((await restarted.resume()).user.id, uid);
  const none = client({ storage: { ...storage, getItem: () => { throw new Error("forbidden"); } } });
  await refusal(none.resume(), "STORAGE_ERROR");
}

// A storage that may not be read is said once, also to an app that reads the session at each change.
{
  const types = [], getItem = () => { throw new Error("forbidden"); };
  const app = client({ storage: { ...memoryStorage(), getItem } });
  void (async () => {
    for await (const { type } of app.changes()) if (types.push(type) < 9) void app.session;
  })();
  await settled();
  assert.deepEqual(types, ["storageFailed"]);
  await refusal(app.resume(), "STORAGE_ERROR");
  await app.signIn(Proof.anonymous());
  await settled();
  assert(app.session);
  assert.deepEqual(types, ["storageFailed", "signedIn"]);
}

// A session that is not remembered is nowhere but in memory.
{
  const storage = memoryStorage();
  const app = client({ storage });
  await app.signIn(Proof.anonymous(), { remember: false });
  assert.equal(storage.getItem(`gatehouse:${server}/api/v1`), undefined);
  assert((await app.user()).id);
  // Each session that follows is as short.
  const bodies = [], { email } = await registered(), proof = Proof.password({ email, password });
  const short = client({ fetch: (url, call) => {
    bodies.push(JSON.parse(call.body));
    return send(url, call);
  } });
  await short.signIn(proof, { remember: false });
  await short.reauthenticate(proof);
  assert.deepEqual(bodies.map(({ remember }) => remember), [false, false]);
}

// A session that the server has ended is over for all calls, and said once.
{
  const { app, email } = await registered();
  const other = client();
  const heard = [];
  app.onChange(({ type, reason }) => heard.push(`${type} ${reason}`));
  await other.signIn(Proof.password({ email, password }));
  await other.signOut("others");
  const results = await Promise.allSettled(Array.from({ length: 100 }, () => app.user()));
  assert(results.every(({ reason }) => /INVALID_REFRESH_TOKEN|SIGNED_OUT/.test(reason?.code)));
  assert.deepEqual(heard, ["signedOut ended"]);
}

// Nothing of one person reaches the next: a refresh that is under way when another person signs in is dropped.
{
  const { app, uid, fault } = await guest();
  clock.shift += HOUR;
  fault("/refresh", late(300));
  const former = app.user();
  const next = await app.signIn(Proof.anonymous());
  await refusal(former, "SIGNED_OUT");
  assert.notEqual(next.session.user.id, uid);
  assert.equal((await app.user()).id, next.session.user.id);
}

// An answer that arrives after a sign-out opens nothing, and a sign-out without a network is one here.
{
  const storage = memoryStorage(), key = `gatehouse:${server}/api/v1`;
  const { app, heard, fault } = await guest({ storage });
  clock.shift += HOUR;
  const answers = [];
  fault("/refresh", async (url, call) => {
    answers.push(await send(url, call));
    await new Promise((resolve) => setTimeout(resolve, 300));
    return answers[0].clone();
  });
  const former = refusal(app.user(), "SIGNED_OUT");
  while (!answers.length) await settled();
  await app.signOut();
  await former;
  assert(app.session === null && storage.getItem(key) === undefined && heard.at(-1) === "signedOut signedOut");
  const body = JSON.stringify({ refreshToken: (await answers[0].json()).refreshToken });
  const again = { method: "POST", headers: { "Content-Type": "application/json" }, body };
  assert.equal((await send(`${server}/api/v1/auth/refresh`, again)).status, 401);

  await app.signIn(Proof.anonymous());
  assert(storage.getItem(key));
  fault("/logout", down, 3);
  await refusal(app.signOut(), "NETWORK_ERROR");
  assert(app.session === null && storage.getItem(key) === undefined);
}

// A sign-out of all sessions renews an access token that the server refuses, also if an answer is lost. It fails if its
// own session has ended, because the others go on.
{
  const { app: other, email } = await registered(), proof = Proof.password({ email, password });
  const expired = refusing(401, undefined, '{"error":{"code":"INVALID_TOKEN","message":"Expired"}}');
  let token, logouts = 0;
  const app = client({ fetch: (url, call) => {
    if (token && call.headers.Authorization === `Bearer ${token}`) return expired();
    return url.endsWith("/logout") && ++logouts === 1 ? lost(url, call) : send(url, call);
  } });
  await app.signIn(proof);
  token = app.currentAccessToken;
  await app.signOut("global");
  assert.equal(logouts, 2);
  await refusal(other.user(), "INVALID_REFRESH_TOKEN");

  await app.signIn(proof);
  await other.signIn(proof);
  await other.signOut("others");
  await refusal(app.signOut("global"), "INVALID_REFRESH_TOKEN");
  assert.equal(app.session, null);
  assert((await other.user()).id);
}

// A sign-out of all sessions ends those of the app's own person, although another tab has signed in another person or
// has signed out. The other person's session goes on.
{
  const { app: other, email } = await registered(), proof = Proof.password({ email, password });
  const values = memoryStorage(), theirs = memoryStorage(), key = `gatehouse:${server}/api/v1`;
  const app = client({ storage: { ...values, shared: true } }), next = client({ storage: theirs });
  await next.signIn(Proof.anonymous());
  const uid = next.session.user.id, text = theirs.getItem(key);
  await app.signIn(proof);
  values.setItem(key, text);
  await app.signOut("global");
  await refusal(other.user(), "INVALID_REFRESH_TOKEN");
  assert.equal(values.getItem(key), text);
  assert.equal(app.session.user.id, uid);
  assert.equal((await next.user()).id, uid);

  await other.signIn(proof);
  await app.signIn(proof);
  values.removeItem(key);
  await app.signOut("global");
  assert.equal(app.session, null);
  await refusal(other.user(), "INVALID_REFRESH_TOKEN");

  // If another tab has refreshed the session, it is the same one.
  await other.signIn(proof);
  await app.signIn(proof);
  await client({ storage: { ...values } }).accessToken();
  await app.signOut("global");
  assert(app.session === null && values.getItem(key) === undefined);
  await refusal(other.user(), "INVALID_REFRESH_TOKEN");
}

// Old apps: names, codes and URLs of the Webcom library.
{
  const { email } = await registered();
  const heard = [], name = "demo", credentials = { email, password };
  const old = new Webcom(`${server}/base/${name}`, { legacyCodes: true });
  const callback = (error, auth) => heard.push(error ? error.code : auth && auth.uid);
  old.registerAuthCallback(callback);
  old.registerAuthCallback(callback);
  await assert.rejects(old.removeIdentity(), { code: "INVALID_TOKEN" });
  await assert.rejects(old.authWithPassword({ ...credentials, password: "wrong" }), { code: "INVALID_PASSWORD" });
  const auth = await old.authWithPassword({ ...credentials, rememberMe: false });
  assert.deepEqual([auth.provider, auth.providerUid], ["email", email]);
  assert(auth.expires > 1e9 && auth.createdAt > 1e9 && auth.webcomAuthToken === await old.token());
  console.log("Authentication succeeded", auth);
  const same = new Webcom(`${server}/base/${name}`);
  await same.resume();
  await same.logout();
  assert.deepEqual(heard, ["INVALID_PASSWORD", auth.uid, auth.uid, null]);
  for (const wrong of ["", "two words", "https://host.example/demo", "javascript:alert(1)"]) {
    assert.throws(() => new Webcom(wrong), TypeError);
  }
  assert.throws(() => new Webcom(name), /setBaseUrl/);
  Webcom.setBaseUrl(server);
  assert(new Webcom(name));
  assert(globalThis.Webcom === Webcom && defaults.webcom === Webcom && defaults.gatehouse === Gatehouse);
}

assert.throws(() => new Gatehouse(), TypeError);
expectDiscreet(client());
expectNoLeak();
process.stdout.write("ok\n");
