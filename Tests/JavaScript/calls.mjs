// Every call of the client, against a real server.
import {
  CODE, Gatehouse, Proof, TOKEN, address, assert, atProvider, client, expectDiscreet, expectNoLeak, host, keepSecret,
  mailed, memoryStorage, other, password, refusal, registered, server,
} from "./support.mjs";

const flows = Object.fromEntries((await client().providers()).map(({ name, flow }) => [name, flow]));
assert.equal(flows.anonymous, "direct");
assert.equal(flows.phone, "challenge");
assert.equal(flows.corp, "redirect");

// A guest, who becomes permanent with the same account by a code.
const app = client({ deviceName: "Workbench" }), heard = [];
const stop = app.onChange(({ type, reason }) => heard.push(reason ? `${type} ${reason}` : type));
const stream = app.changes(), firstChange = stream.next();
await refusal(app.user(), "SIGNED_OUT");
const guest = await app.signIn(Proof.anonymous());
assert(guest.isNewAccount && guest.session.user.isAnonymous);
assert.deepEqual((await firstChange).value, { type: "signedIn", session: guest.session });
await stream.return();
const email = address(), uid = app.session.user.id;
const sent = await app.sendCode({ email, purpose: "link" });
assert(sent.expiresIn > 60 && sent.resendAfter > 0);
const linked = await app.link(Proof.code(sent, await mailed(email, CODE)));
assert.equal(linked.session.user.id, uid);
assert.equal(linked.session.user.email, email);
assert.equal(app.session.user.isAnonymous, false);
assert.deepEqual(heard, ["signedIn", "updated"]);

// The account.
assert.equal((await app.updateUser({ displayName: "Ada", metadata: { theme: "dark" } })).displayName, "Ada");
assert.equal(app.session.user.metadata.theme, "dark");
assert.equal((await app.user()).id, uid);
assert.equal((await app.sessions()).find(({ current }) => current).device, "Workbench");
const file = await app.exportAccount();
assert(file.fileName.includes(uid));
let exported = "";
for await (const part of file.stream.pipeThrough(new TextDecoderStream())) exported += part;
assert(JSON.parse(exported) && exported.includes(email));

// The same session by another object with the same storage, and another device.
const phone = client();
await phone.signIn(Proof.code(await phone.sendCode({ email }), await mailed(email, CODE)));
assert.equal(phone.session.user.id, uid);
await app.endSession((await app.sessions()).find(({ current }) => !current).id);
await refusal(phone.user(), "INVALID_REFRESH_TOKEN");
assert.equal(phone.session, null);

// An address of the identity changes with a code.
const [identity] = await app.identities(), newEmail = address();
const change = await app.changeAddress(identity.id, { email: newEmail });
assert.equal((await app.confirmAddress(identity.id, change, await mailed(newEmail, CODE))).email, newEmail);
assert.equal(app.session.user.email, newEmail);

// An address with a password joins with its mailed token.
const second = address();
assert.deepEqual(await app.link(Proof.password({ email: second, password })), { mailed: second });
await app.verifyEmail(await mailed(second, TOKEN), { linking: true });
assert.equal((await app.identities()).length, 2);

// Passwords.
const weak = await refusal(client().register({ email: address(), password: "short" }), "TOO_WEAK_PASSWORD");
assert(weak.details.reasons.length && weak.status === 400);
await app.changePassword({ password: other, currentPassword: password });
const wrong = await refusal(client().signIn(Proof.password({ email: second, password })), "INVALID_CREDENTIALS");
assert.equal(wrong.status, 401);
await app.reauthenticate(Proof.password({ email: second, password: other }));
assert.equal(app.session.user.id, uid);
const asked = client();
await asked.forgotPassword(second);
await asked.resetPassword(await mailed(second, TOKEN), password);
await refusal(app.user(), "INVALID_REFRESH_TOKEN");
assert.equal(heard.at(-1), "signedOut ended");
await app.signIn(Proof.password({ email: second, password }));
stop();

// A phone.
const number = `+3361${String(Date.now()).slice(-7)}`;
await app.link(Proof.code(await app.sendCode({ phone: number, purpose: "link" }), await mailed(number, CODE)));
assert.equal(app.session.user.phone, number);

// A provider's pages.
const redirectUri = `${host}/app.html`;
const joined = await app.beginRedirect("corp", { redirectUri, purpose: "link" });
await app.endRedirect(joined, await atProvider(`ada${process.pid}`, joined));
assert((await app.identities()).some(({ provider }) => provider === "corp"));
const visitor = client();
const flow = await visitor.beginRedirect("corp", { redirectUri });
assert.equal((await visitor.endRedirect(flow, await atProvider(`ada${process.pid}`, flow))).session.user.id, uid);
const denied = await visitor.beginRedirect("corp", { redirectUri });
await refusal(visitor.endRedirect(denied, await atProvider("", denied)), "access_denied");
await refusal(visitor.endRedirect(denied, `${redirectUri}?code=a&state=another`), "INVALID_STATE");
await visitor.signOut();

// The page gets what the app passes, without a URL of the server; the session may be short, and stays in memory.
const hint = "MSISDN:33612345678", storage = memoryStorage(), brief = client({ storage });
keepSecret(hint.slice(7));
const hinted = await brief.beginRedirect("corp", { redirectUri, remember: false, parameters: { login_hint: hint } });
assert.equal(new URL(hinted.url).searchParams.get("login_hint"), hint);
const { session } = await brief.endRedirect(hinted, await atProvider(`ada${process.pid}`, hinted));
assert(session.user.id === uid && session.auth.sessionExpires * 1000 <= Date.now() + 12 * 3_600_000);
assert.equal(storage.getItem(`gatehouse:${server}/api/v1`), undefined);
for (const purpose of ["link", "reauthenticate"]) {
  const again = await brief.beginRedirect("corp", { redirectUri, purpose, parameters: { login_hint: hint } });
  assert.equal(new URL(again.url).searchParams.get("login_hint"), hint);
}
const foreign = { redirectUri, parameters: { acr_values: hint } };
expectDiscreet(await refusal(brief.beginRedirect("corp", foreign), "INVALID_PARAMETER"));
await brief.signOut();

// Two accounts become one, and two again.
const { app: older, email: olderEmail } = await registered();
const conflict = await refusal(
  app.link(Proof.code(await app.sendCode({ email: olderEmail, purpose: "link" }), await mailed(olderEmail, CODE))),
  "IDENTITY_IN_USE");
assert(conflict.rule && conflict.remedies.length && conflict.mergeToken && conflict.status === 409);
const plan = await app.planMerge(conflict.mergeToken, "current");
assert.equal(plan.survivor, uid);
const merge = await app.merge(conflict.mergeToken, "current");
assert.deepEqual([merge.survivor, merge.absorbed], [uid, plan.absorbed]);
assert.equal((await app.merges()).length, 1);
await app.undoMerge(merge.id);
await refusal(older.user(), "INVALID_REFRESH_TOKEN");

// Unlinking, signing out, and deletion.
const idAt = async (name) => (await app.identities()).find(({ provider }) => provider === name).id;
assert.deepEqual(await app.unlink(await idAt("corp")), { accountDeleted: false });
assert.equal(app.session, null, "the session that the identity has opened ends with it");
await app.signIn(Proof.password({ email: second, password }));
assert.deepEqual(await app.unlink(await idAt("phone")), { accountDeleted: false });
assert(app.session);
const elsewhere = client();
await elsewhere.signIn(Proof.password({ email: second, password }));
await elsewhere.signOut("others");
await refusal(app.user(), "INVALID_REFRESH_TOKEN");
await elsewhere.signOut();
assert.equal(elsewhere.session, null);
await app.signIn(Proof.password({ email: second, password }));
const receipt = await app.deleteAccount();
assert.equal(app.session, null);
assert.equal((await app.erasure(receipt)).status, "scheduled");
const deleted = await refusal(app.signIn(Proof.password({ email: second, password })), "ACCOUNT_DELETED");
assert(deleted.restoreToken && deleted.details.purgeAfter);
const restored = await app.restoreAccount(deleted.restoreToken, { remember: false });
assert(restored.session.user.id === uid && restored.session.auth.sessionExpires * 1000 < Date.now() + 13 * 3_600_000);
await app.signOut("global");

// The last identity takes the account with it.
const { app: single } = await registered();
assert.equal((await single.unlinkCurrent()).accountDeleted, true);
assert.equal(single.session, null);

console.log(app, conflict, plan, elsewhere, new Gatehouse(server));
expectDiscreet(app);
expectNoLeak();
process.stdout.write("ok\n");
