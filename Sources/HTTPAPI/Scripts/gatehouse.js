// @ts-check
// `Gatehouse` has an app's calls, `Keeper` holds the session, `Server` sends calls. Access tokens age by the monotonic
// clock. Only a refused refresh token ends a session here.

/**
 * @typedef {{id: string, email: string | null, displayName: string | null, isAnonymous: boolean,
 *   [member: string]: any}} User `id` is the account's `uid`.
 * @typedef {{uid: string, provider: string, providerUid: string, [member: string]: any}} Auth Times are seconds.
 * @typedef {{user: User, auth: Auth}} Session
 * @typedef {{session: Session, isNewAccount: boolean, shouldChangePassword: boolean}} SignedIn
 * @typedef {{type: "signedIn" | "updated" | "refreshed", session: Session} | {type: "stored"}
 *   | {type: "signedOut", reason: string, error?: GatehouseError}
 *   | {type: "refreshFailed" | "storageFailed", error: GatehouseError}} Change
 * @typedef {{getItem(key: string): any, setItem(key: string, value: string): any, removeItem(key: string): any,
 *   shared?: boolean}} Storage Functions may return promises. `shared`: all tabs of the origin see the same.
 * @typedef {"signIn" | "link" | "reauthenticate"} Purpose
 * @typedef {"keep" | "switch" | "merge"} ConflictChoice
 * @typedef {{challengeId: string, expiresIn: number, resendAfter: number, kind: string, provider?: string,
 *   isBound: boolean}} SentCode
 * @typedef {{url: string, state: string, provider: string, redirectUri: string, purpose: Purpose, remember?: boolean,
 *   verifier: string}} Flow `verifier` is secret.
 * @typedef {{redirectUri?: string, purpose?: Purpose, remember?: boolean, onConflict?: ConflictChoice,
 *   parameters?: Record<string, string>}} FlowOptions `parameters` of the page: names of the provider's `forward`.
 * @typedef {{id: string, [member: string]: any}} Entry
 */

/**
 * A refusal by the server, or the client's own `NETWORK_ERROR` (no answer), `UNEXPECTED_ANSWER`, `STORAGE_ERROR`,
 * `SIGNED_OUT`, `CANCELLED` or `POPUP_BLOCKED`. Neither its text nor what consoles print of it contains a token.
 */
export class GatehouseError extends Error {
  #tokens;

  constructor(/** @type {string} */ code, message, /** @type {any} */ more = {}) {
    super(message);
    this.name = "GatehouseError";
    const { mergeToken, restoreToken, ticket, ...details } = more.details ?? {};
    this.#tokens = { mergeToken, restoreToken, ticket };
    this.code = code;
    /** The HTTP status; 0 without an answer. */
    this.status = more.status ?? 0;
    this.details = details;
    /** @type {string | undefined} */
    this.rule = details.rule;
    /** @type {string | undefined} */
    this.reason = details.reason;
    /** @type {string[]} */
    this.remedies = details.remedies ?? [];
    /** Seconds. */
    this.retryAfter = more.retryAfter;
    this.requestId = more.requestId;
  }

  get mergeToken() { return this.#tokens.mergeToken; }
  get restoreToken() { return this.#tokens.restoreToken; }
  get ticket() { return this.#tokens.ticket; }
}

/** What signs in, links an identity, or re-authenticates. */
export class Proof {
  #call;

  constructor(provider, path, body, named = false, isBound = false) {
    this.provider = provider;
    this.#call = { path, body, named, isBound };
  }

  static call(proof) { return proof.#call; }

  static anonymous() { return new Proof("anonymous", "/auth/anonymous", {}); }

  /** @param {{email: string, password: string, provider?: string}} credentials */
  static password({ email, password, provider = "email" }) {
    return new Proof(provider, "/auth/login", { email, password });
  }

  /** @param {SentCode} sent @param {string} code */
  static code({ kind, provider, challengeId, isBound }, code) {
    return new Proof(provider ?? kind, `/auth/${kind}/otp/verify`, { challengeId, code }, !!provider, isBound);
  }

  /**
   * @param {{identityToken: string, authorizationCode?: string, nonce?: string, email?: string,
   *   fullName?: {givenName?: string, familyName?: string}, provider?: string}} answer
   */
  static apple({ provider, ...body }) { return new Proof(provider ?? "apple", "/auth/apple", body, !!provider); }

  static customToken(token, provider = "") {
    return new Proof(provider || "custom", "/auth/custom", { token }, !!provider);
  }

  static mobileNetwork(assertion = undefined, provider = "") {
    return new Proof(provider || "mobile-network", "/auth/mobile-network", { assertion }, !!provider);
  }

  /** @param {string} provider @param {{idToken: string, nonce?: string, accessToken?: string}} tokens */
  static idToken(provider, tokens) {
    return new Proof(provider, `/auth/oauth/${encodeURIComponent(provider)}/token`, tokens);
  }

  /** @param {Flow} flow @param {string} address */
  static redirect({ state, provider, redirectUri, verifier }, address) {
    const query = new URL(address).searchParams, code = query.get("code");
    if (query.get("state") !== state) throw new GatehouseError("INVALID_STATE", "The answer is to another flow");
    if (!code) throw new GatehouseError(query.get("error") ?? "INVALID_STATE", "The provider gave no code");
    return new Proof(provider, "/auth/token", { code, state, redirect_uri: redirectUri, codeVerifier: verifier });
  }
}

// MARK: - Calls

const pause = (milliseconds) => new Promise((resolve) => void setTimeout(resolve, milliseconds));

/** A `Retry-After` in seconds; a time counts from the answer's `Date`, if readable. */
function secondsOf(headers) {
  const field = headers.get("Retry-After"), now = Date.parse(headers.get("Date")) || Date.now();
  return Math.max(0, +field || Math.ceil((Date.parse(field) - now) / 1000)) || undefined;
}

class Server {
  constructor(base, /** @type {any} */ { fetch, timeout = 15_000, patience = 10_000, deviceName }) {
    this.base = base;
    this.fetch = fetch ?? ((url, call) => globalThis.fetch(url, call));
    this.timeout = timeout;
    this.patience = patience;
    this.deviceName = deviceName;
  }

  /** Sends a call, and again if it may be repeated and a failure may pass. @returns {Promise<any>} */
  async send(method, path, call = {}) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(method, path, call);
      } catch (error) {
        const { code, status, retryAfter } = error;
        const wait = retryAfter ? retryAfter * 1000 : 150 * 2 ** attempt;
        const isPassing = retryAfter ? wait <= this.patience : code === "NETWORK_ERROR" || status >= 500;
        if (attempt === 3 || !isPassing || !(call.repeat ?? method === "GET")) throw error;
        await pause(wait);
        if (await call.isOver?.()) throw error;
      }
    }
  }

  async #once(method, path, /** @type {any} */ { body, bearer, stream }) {
    const headers = {
      Accept: "application/json", ...(body && { "Content-Type": "application/json" }),
      ...(bearer && { Authorization: `Bearer ${bearer}` }),
      ...(this.deviceName && { "X-Device-Name": this.deviceName }),
    };
    const control = new AbortController(), askedAt = performance.now();
    let timer, response, text, data;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => { control.abort(); reject(); }, this.timeout);
    });
    try {
      response = await Promise.race([late, this.fetch(this.base + path, {
        method, headers, body: body && JSON.stringify(body), signal: control.signal, credentials: "omit",
        cache: "no-store", redirect: "error", referrerPolicy: "strict-origin",
      })]);
      text = stream && response.ok ? "" : await Promise.race([late, response.text()]);
    } catch {
      throw new GatehouseError(
        "NETWORK_ERROR", control.signal.aborted ? "The server did not answer in time" : "The server was not reached");
    } finally {
      clearTimeout(timer);
    }
    try { data = JSON.parse(text); } catch { /* Empty or foreign. */ }
    if (response.ok && (data || !text)) return { response, data, askedAt };
    const { code = "UNEXPECTED_ANSWER", message = "The answer is foreign", details } = data?.error ?? {};
    throw new GatehouseError(code, message, {
      status: response.status, details, requestId: response.headers.get("X-Request-ID"),
      retryAfter: secondsOf(response.headers),
    });
  }
}

// MARK: - The session

/** An access token whose life counts from the request and ends a little early. */
function accessOf({ data, askedAt }) {
  const life = Math.min(Math.max(Number(data.expiresIn) || 0, 0), 86_400) * 1000;
  return { token: data.accessToken, renewAt: askedAt + life * 0.8, end: askedAt + life - Math.min(10_000, life / 10) };
}

/** By the server's clock, only to show. */
function expiryOf(token) {
  try { return JSON.parse(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"))).exp; } catch { return; }
}

const unexpected = (message) => new GatehouseError("UNEXPECTED_ANSWER", message);
const signedOut = () => new GatehouseError("SIGNED_OUT", "No session: sign in first");

/** Whether the answer to a refresh means that the session is over. */
const endsSession = ({ status, code }) =>
  (status === 401 && /^INVALID_(REFRESH_)?TOKEN$/.test(code)) || (status === 403 && /^ACCOUNT_D/.test(code));

/** Pauses after failures, in milliseconds. */
const FIRST_WAIT = 5_000, LONGEST_WAIT = 300_000;
const EVENTS = ["online", "pageshow", "visibilitychange", "pagehide"];

/** Holds the session of an application for all its `Gatehouse` objects. */
class Keeper {
  /** `undefined` until the storage was read; `former` is the refresh token before this one.
   * @type {{refreshToken: string, former?: string, session: Session, remembered: boolean, unstored?: boolean,
   *   access?: {token: string, renewAt: number, end: number}} | null | undefined} */
  held;
  /** Counts the sign-ins of different people: a call of one is never repeated for another. */
  number = 0;
  users = 0;
  listeners = new Set();
  #loading;
  #writing;
  #renewing;
  // They end waits for other tabs.
  #arrived;
  #replied;
  #timer;
  #wait = FIRST_WAIT;
  /** Until when the server asked for a pause, and its refusal. */
  #blocked;
  /** A refused access token. */
  #rejected;
  #isUnreadable = false;
  #storeAgainAt = 0;
  #isUnstored = false;
  /** @type {BroadcastChannel | undefined} */
  #tabs;
  /** Whether this tab tells new ones the access token. */
  #leads = false;
  #leave;

  constructor(server, storage, automatic) {
    this.server = server;
    this.storage = storage;
    this.automatic = automatic;
    this.key = `gatehouse:${server.base}`;
    if (storage.shared && globalThis.navigator?.locks && typeof BroadcastChannel === "function") {
      this.#tabs = new BroadcastChannel(this.key);
      this.#tabs.onmessage = ({ data }) => void this.#hear(data).catch(() => {});
    }
    EVENTS.map((event) => globalThis.addEventListener?.(event, this));
    this.load()?.catch(() => {});
  }

  close() {
    clearTimeout(this.#timer);
    this.automatic = false;
    this.#leave?.();
    this.#tabs?.close();
    this.#tabs = undefined;
    EVENTS.map((event) => globalThis.removeEventListener?.(event, this));
  }

  handleEvent({ type }) {
    // A page in the cache of the back button may hold no lock.
    if (type === "pagehide") return this.#leave?.();
    const isOnline = type === "online";
    if (!this.automatic || !this.held || (!isOnline && document.visibilityState === "hidden")) return;
    this.#lead();
    if (isOnline) this.#blocked = undefined;
    else void this.reread();
    if ((isOnline || this.held.access) && !this.isFresh() && !this.#isBlocked()) this.renew().catch(() => {});
  }

  say(/** @type {Change} */ change) {
    for (const listener of [...this.listeners]) {
      try { listener(change); } catch (error) { (globalThis.reportError ?? console.error)(error); }
    }
  }

  /** Reads the storage, if it has not been read. */
  load() {
    if (this.held !== undefined) return;
    const take = (text) => { if (this.held === undefined) this.held = this.#parsed(text); };
    const fail = () => {
      const error = new GatehouseError("STORAGE_ERROR", "The session could not be read");
      if (!this.#isUnreadable) this.say({ type: "storageFailed", error });
      this.#isUnreadable = true;
      throw error;
    };
    if (this.#loading) return this.#loading;
    let found;
    try { found = this.storage.getItem(this.key); } catch { found = Promise.reject(); }
    if (typeof found?.then !== "function") return take(found);
    return this.#loading = found.then(take, fail).finally(() => { this.#loading = undefined; });
  }

  #parsed(text) {
    try {
      const { version, refreshToken, session } = JSON.parse(text);
      if (version === 1 && refreshToken && session.user) return { refreshToken, session, remembered: true };
    } catch { /* The next sign-in replaces it. */ }
    return null;
  }

  /** Whether the access token need not be renewed, or can be used until its `end`. */
  isFresh(limit = "renewAt") { return performance.now() < (this.held?.access?.[limit] ?? 0); }

  #isBlocked() { return performance.now() < (this.#blocked?.until ?? 0); }

  /** A good access token and the number of its sign-in; `rejected` was refused. */
  async grant(/** @type {any} */ rejected = undefined) {
    await this.load();
    const number = rejected?.number ?? this.number;
    for (let attempt = 0; ; attempt++) {
      const { held } = this;
      if (!held || this.number !== number) throw signedOut();
      if (rejected && held.access?.token === rejected.token) {
        this.#rejected = rejected.token;
        held.access = undefined;
      }
      if (held.unstored && performance.now() > this.#storeAgainAt) this.#store();
      if (held.access && this.isFresh("end")) {
        if (!this.isFresh() && !this.#isBlocked()) this.renew().catch(() => {});
        return { token: held.access.token, number };
      }
      if (this.#isBlocked()) throw this.#blocked.error;
      if (attempt === 3) throw unexpected("The answer has expired");
      await this.renew();
    }
  }

  /** Renews the access token, once for all tabs. */
  renew() {
    return this.#renewing ??= new Promise((resolve, reject) => {
      this.#arrived = resolve;
      this.#exclusively(() => this.#refresh(), resolve, reject);
    }).finally(() => { this.#renewing = this.#arrived = undefined; });
  }

  /** Runs the body with a lock, after a while without it: two refreshes with one token get the same answer. The body
   * returns whether it told other tabs something. */
  #exclusively(body, resolve, reject) {
    const enter = async () => {
      entered = true;
      try {
        const isNews = await body();
        resolve();
        if (isNews && this.#tabs) await this.#spread();
      } catch (error) {
        reject(error);
      }
    };
    let entered = false;
    if (!this.#tabs) return void enter();
    const control = new AbortController();
    const timer = setTimeout(() => control.abort(), this.server.timeout);
    this.#lock(this.key, control.signal, () => { clearTimeout(timer); return enter(); })
      .catch(() => { if (!entered) void enter(); });
  }

  /** Waits until other tabs have the last message before they get the lock. */
  async #spread() {
    const echo = new BroadcastChannel(this.key);
    const heard = new Promise((resolve) => { echo.onmessage = resolve; });
    this.#tabs.postMessage({ kind: "none" });
    await Promise.race([heard, pause(1_000)]);
    echo.close();
  }

  async #lock(name, signal, body) { await navigator.locks.request(name, { signal }, body); }

  async #refresh() {
    for (let attempt = 0; ; attempt++) {
      await this.reread();
      if (!this.held || this.isFresh() || (!this.held.access && await this.#ask())) return false;
      const presented = this.held.refreshToken;
      // Another tab was faster.
      const isOver = async () => (await this.reread(), this.held?.refreshToken !== presented);
      let answer;
      try {
        const body = { refreshToken: presented };
        answer = await this.server.send("POST", "/auth/refresh", { body, repeat: true, isOver });
        if (!answer.data?.refreshToken) throw unexpected("The answer has no token");
      } catch (error) {
        if (await isOver() && attempt < 3) continue;
        if (endsSession(error)) this.forget("ended", error);
        else this.#postpone(error);
        throw error;
      }
      if (await isOver()) return false;
      const { data } = answer, { user, auth } = this.held.session;
      const expires = expiryOf(data.accessToken) ?? auth.expires;
      this.#hold({
        ...this.held, refreshToken: data.refreshToken, former: presented, access: accessOf(answer),
        session: { user, auth: { ...auth, expires, ...data.auth } },
      });
      this.#tell("refresh");
      this.say({ type: "refreshed", session: this.held.session });
      return true;
    }
  }

  #postpone(error) {
    const asked = Math.min((error.retryAfter ?? 0) * 1000, LONGEST_WAIT);
    if (asked) this.#blocked = { until: performance.now() + asked, error };
    this.#schedule(Math.max(asked, this.#wait));
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
    this.say({ type: "refreshFailed", error });
  }

  #schedule(milliseconds) {
    clearTimeout(this.#timer);
    if (!this.automatic) return;
    this.#timer = setTimeout(() => { if (this.held) this.renew().catch(() => {}); }, milliseconds);
    this.#timer.unref?.();
  }

  /** Takes over the answer to a sign-in; `continuing` is the number of the call's own sign-in. */
  adopt(answer, remember = undefined, continuing = undefined) {
    const { user, auth, refreshToken, accessToken, isNewAccount, shouldChangePassword } = answer.data ?? {};
    if (!accessToken || !refreshToken || !user || !auth) throw unexpected("The answer has no session");
    if (continuing !== undefined && (!this.held || this.number !== continuing)) throw signedOut();
    const session = { user, auth }, isSame = this.held?.session.user.id === user.id;
    if (!isSame) this.number++;
    this.#hold({
      session, refreshToken, access: accessOf(answer), remembered: remember ?? this.held?.remembered ?? true,
    });
    this.#tell("signIn");
    this.say({ type: isSame && continuing !== undefined ? "updated" : "signedIn", session });
    return { session, isNewAccount: !!isNewAccount, shouldChangePassword: !!shouldChangePassword };
  }

  update(user, number) {
    if (!this.held || this.number !== number || this.held.session.user.id !== user.id) return;
    if (JSON.stringify(user) === JSON.stringify(this.held.session.user)) return;
    this.#hold({ ...this.held, session: { ...this.held.session, user } });
    this.#tell("update");
    this.say({ type: "updated", session: this.held.session });
  }

  forget(reason, error = undefined) {
    if (!this.held) return;
    this.#tell("signOut");
    this.#lose(reason, error);
    this.#store();
  }

  #lose(reason, error = undefined) {
    this.held = null;
    this.number++;
    this.#blocked = undefined;
    clearTimeout(this.#timer);
    this.#leave?.();
    this.say({ type: "signedOut", reason, ...(error && { error }) });
  }

  #hold(held, isStored = false) {
    this.held = held;
    if (!isStored) this.#store();
    if (!held.access) return;
    this.#blocked = undefined;
    this.#wait = FIRST_WAIT;
    this.#schedule(held.access.renewAt - performance.now());
    this.#lead();
  }

  /** Stores or removes the session; a failure is said once. */
  #store() {
    const { held, key, storage } = this, wasUnstored = this.#isUnstored;
    const text = held?.remembered
      && JSON.stringify({ version: 1, refreshToken: held.refreshToken, session: held.session });
    const write = () => (text ? storage.setItem(key, text) : storage.removeItem(key));
    const finish = (isUnstored) => {
      this.#isUnstored = isUnstored;
      if (held) held.unstored = isUnstored;
      if (wasUnstored && !isUnstored) this.say({ type: "stored" });
    };
    const fail = async () => {
      this.#storeAgainAt = performance.now() + FIRST_WAIT;
      finish(true);
      const error = new GatehouseError("STORAGE_ERROR", "The session is not stored");
      if (!wasUnstored) this.say({ type: "storageFailed", error });
      // An outdated refresh token would end the session.
      try { await storage.removeItem(key); } catch { /* Said. */ }
    };
    try {
      const writing = this.#writing ? this.#writing.then(write) : write();
      if (typeof writing?.then !== "function") return finish(false);
      this.#writing = writing.then(() => finish(false), fail);
    } catch {
      void fail();
    }
  }

  async reread() {
    const { held } = this;
    await this.#writing;
    if (!this.storage.shared || !held?.remembered || held.unstored || this.held !== held) return;
    let found;
    try { found = this.#parsed(await this.storage.getItem(this.key)); } catch { return; }
    if (this.held !== held || found?.refreshToken === held.refreshToken) return;
    if (found) this.#follow(found);
    else this.#lose("elsewhere");
  }

  /** Takes over the session of another tab. */
  #follow(held) {
    const former = this.held?.session, { session } = held, isSame = former?.user.id === session.user.id;
    if (!isSame) this.number++;
    this.#hold(held, true);
    if (JSON.stringify(former) === JSON.stringify(session)) return;
    this.say({ type: isSame ? "updated" : "signedIn", session });
  }

  #tell(kind) {
    if (!this.#tabs || !this.held) return;
    const { access, ...held } = this.held, now = performance.now();
    if (held.remembered) {
      const life = access && { token: access.token, renewIn: access.renewAt - now, endIn: access.end - now };
      this.#tabs.postMessage({ kind, held, life });
    } else if (kind === "signIn") {
      // Of this tab alone, instead of that of all tabs.
      this.#tabs.postMessage({ kind: "signOut" });
    }
  }

  async #hear({ kind, held, life }) {
    if (kind === "ask") {
      if (this.#leads && this.isFresh()) this.#tell("update");
      else if (this.#leads) this.#tabs?.postMessage({ kind: "none" });
      return;
    }
    await this.load();
    const mine = this.held?.remembered ? this.held : undefined, now = performance.now();
    const isMine = held && mine && [held.refreshToken, held.former].includes(mine.refreshToken);
    if (kind === "signOut") {
      if (mine && (!held || isMine || mine.former === held.refreshToken)) this.#lose("elsewhere");
    } else if (held && (isMine || kind === "signIn")) {
      const access = life && life.token !== this.#rejected
        ? { token: life.token, renewAt: now + life.renewIn, end: now + life.endIn }
        : mine?.refreshToken === held.refreshToken ? mine.access : undefined;
      this.#follow({ ...held, access });
      if (this.isFresh()) this.#arrived?.();
    }
    this.#replied?.();
  }

  /** Asks the tab that leads for its access token; returns whether there is a good one now. */
  async #ask() {
    if (!this.#tabs || this.#leads) return false;
    const { held } = await navigator.locks.query().catch(() => ({ held: [] }));
    if (!held?.some(({ name }) => name === `${this.key}:leader`)) return false;
    const replied = new Promise((resolve) => { this.#replied = resolve; });
    this.#tabs.postMessage({ kind: "ask" });
    await Promise.race([replied, pause(2_000)]);
    this.#replied = undefined;
    return this.isFresh();
  }

  /** Queues up to lead. */
  #lead() {
    if (!this.#tabs || this.#leave || !this.held?.access || !this.held.remembered) return;
    const control = new AbortController();
    const left = new Promise((resolve) => {
      this.#leave = () => {
        this.#leave = undefined;
        this.#leads = false;
        control.abort();
        resolve(undefined);
      };
    });
    this.#lock(`${this.key}:leader`, control.signal, () => {
      this.#leads = !control.signal.aborted;
      return left;
    }).catch(() => {});
  }
}

// MARK: - Gatehouse

/** A browser may forbid it. */
const localStore = {
  shared: true,
  getItem: (key) => localStorage.getItem(key),
  setItem: (key, value) => localStorage.setItem(key, value),
  removeItem: (key) => localStorage.removeItem(key),
};

/** @returns {Storage} */
export function memoryStorage() {
  const values = new Map();
  return {
    getItem: (key) => values.get(key),
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
}

const keepers = new WeakMap();

const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

const POPUP = "popup.";
const flowKey = (state) => `gatehouse:flow:${state}`;
const segment = encodeURIComponent;

/** An application's session and calls. All objects for one application and storage share the session. */
export class Gatehouse {
  #server;
  #keeper;
  #close;

  /**
   * `url`: the server, or an application's prefix there; by default where this file came from. `application`: unless
   * host or `url` selects it. `timeout` and `patience` (for a `Retry-After`): milliseconds.
   * @param {string | {url?: string, application?: string, storage?: Storage, deviceName?: string, timeout?: number,
   *   patience?: number, automatic?: boolean, fetch?: any}} options
   */
  constructor(options = {}) {
    const all = typeof options === "string" ? { url: options } : options, { application } = all;
    const url = new URL(all.url ?? new URL("..", import.meta.url));
    if (!url.protocol.startsWith("http")) throw new TypeError("The option `url` is missing");
    const path = url.pathname.replace(/\/+$/, "").replace(application ? /\/apps\/[^/]+$/ : /$^/, "");
    const base = `${url.origin}${path}${application ? `/apps/${segment(application)}` : ""}/api/v1`;
    const isPage = typeof document !== "undefined", storage = all.storage ?? (isPage ? localStore : memoryStorage());
    const known = keepers.get(storage) ?? new Map();
    keepers.set(storage, known);
    this.#server = new Server(base, all);
    this.#keeper = known.get(base) ?? new Keeper(this.#server, storage, all.automatic ?? isPage);
    known.set(base, this.#keeper);
    this.#keeper.users++;
    this.#close = () => {
      this.#close = () => {};
      if (--this.#keeper.users > 0) return;
      known.delete(base);
      this.#keeper.close();
    };
  }

  /** The session stays stored. */
  close() { this.#close(); }

  /** Who is signed in, without asking the server. @returns {Session | null} */
  get session() {
    this.#keeper.load()?.catch(() => {});
    return this.#keeper.held?.session ?? null;
  }

  /** For code that cannot wait; `undefined` if it has to be renewed first. @returns {string | undefined} */
  get currentAccessToken() {
    return this.#keeper.isFresh("end") ? this.#keeper.held.access.token : undefined;
  }

  /** Returns what removes the listener. */
  onChange(/** @type {(change: Change) => void} */ listener) {
    const own = (change) => listener(change);
    this.#keeper.listeners.add(own);
    return () => void this.#keeper.listeners.delete(own);
  }

  /** @returns {AsyncGenerator<Change>} */
  async *changes() {
    const queue = [];
    let wake;
    const stop = this.onChange((change) => { queue.push(change); wake?.(); });
    try {
      for (;;) {
        if (queue.length) yield queue.shift();
        else await new Promise((resolve) => { wake = resolve; });
      }
    } finally {
      stop();
    }
  }

  /** Asks the server whether the stored session lives; throws without an answer. @returns {Promise<Session | null>} */
  async resume() {
    await this.#keeper.load();
    try {
      if (this.#keeper.held) await this.user();
    } catch (error) {
      if (this.#keeper.held) throw error;
    }
    return this.session;
  }

  /** For the app's own server; `insteadOf`: a token that it refused. */
  async accessToken(/** @type {{insteadOf?: string}} */ { insteadOf } = {}) {
    await this.#keeper.load();
    const rejected = insteadOf ? { token: insteadOf, number: this.#keeper.number } : undefined;
    return (await this.#keeper.grant(rejected)).token;
  }

  /** Sends a call with the access token, again if that is refused. */
  async #call(method, path, call = {}) {
    const grant = await this.#keeper.grant(), { number } = grant;
    const send = async ({ token: bearer }) =>
      ({ ...await this.#server.send(method, path, { ...call, bearer }), number });
    try {
      return await send(grant);
    } catch (error) {
      if (error.status !== 401 || error.code !== "INVALID_TOKEN") throw error;
      return send(await this.#keeper.grant(grant));
    }
  }

  async #data(method, path, body = undefined) { return (await this.#call(method, path, { body })).data; }

  async #open(path, body) { return (await this.#server.send("POST", path, { body })).data; }

  /** @returns {Promise<{name: string, [member: string]: any}[]>} */
  async providers() { return (await this.#server.send("GET", "/auth/providers")).data.providers; }

  /**
   * `remember: false` keeps a short session in this page's memory; `ticket`: of a `SECOND_PROOF_REQUIRED`.
   * @param {Proof} proof @param {{remember?: boolean, ticket?: string}} options @returns {Promise<SignedIn>}
   */
  async signIn(proof, { remember = true, ticket } = {}) {
    const { path, body, named, isBound } = Proof.call(proof);
    const call = { body: { ...body, ...(named && { provider: proof.provider }), ticket, remember } };
    const answer = await (isBound ? this.#call("POST", path, call) : this.#server.send("POST", path, call));
    return this.#keeper.adopt(answer, remember);
  }

  /**
   * Sends a code. For linking or re-authentication only this session can answer it.
   * @param {{email?: string, phone?: string, purpose?: Purpose, provider?: string}} to `phone` in E.164
   * @returns {Promise<SentCode>}
   */
  async sendCode({ email, phone, purpose = "signIn", provider }) {
    const kind = phone ? "phone" : "email", isBound = purpose !== "signIn", path = `/auth/${kind}/otp`;
    const body = { email, phone, provider };
    return { ...await (isBound ? this.#data("POST", path, body) : this.#open(path, body)), kind, provider, isBound };
  }

  /** @param {{email: string, password: string, displayName?: string}} person */
  async register(person) { await this.#open("/auth/register", person); }

  /**
   * Signs in with a registration's mailed token, or with `linking` joins its address to the account here.
   * @param {string} token @param {{password?: string, linking?: boolean, remember?: boolean}} options
   * @returns {Promise<SignedIn>}
   */
  async verifyEmail(token, { password, linking = false, remember = true } = {}) {
    const body = { token, password, remember }, path = "/auth/verify-email";
    if (!linking) return this.#keeper.adopt(await this.#server.send("POST", path, { body }), remember);
    return this.#continued(await this.#reopen(path, body));
  }

  /** A call that opens another session for who is signed in, as short as this one. */
  #reopen(path, body, remember = this.#keeper.held?.remembered) {
    return this.#call("POST", path, { body: { ...body, ...(remember === false && { remember }) } });
  }

  #continued(answer, remember = undefined) { return this.#keeper.adopt(answer, remember, answer.number); }

  async forgotPassword(/** @type {string} */ email) { await this.#open("/auth/forgot-password", { email }); }

  /** @param {string} token @param {string} newPassword */
  async resetPassword(token, newPassword) { await this.#open("/auth/reset-password", { token, newPassword }); }

  /** @param {{password: string, currentPassword?: string}} change */
  async changePassword(change) { await this.#data("PUT", "/auth/change-password", change); }

  /** Forgets the session at once, and throws if the server may not have ended the sessions. */
  async signOut(/** @type {"local" | "others" | "global"} */ scope = "local") {
    if (scope === "others") return void await this.#data("POST", "/auth/logout", { scope });
    await this.#keeper.load();
    let { held, number } = this.#keeper;
    if (scope === "global") await this.#keeper.reread();
    if (!held) return;
    // A session of another person stays.
    if (this.#keeper.number === number) {
      held = this.#keeper.held;
      this.#keeper.forget("signedOut");
    }
    try {
      let { refreshToken } = held, bearer = held.access?.token;
      // `global` needs a valid access token, and the clock may stand still while a device sleeps.
      if (!bearer || scope === "global") {
        const { data } = await this.#server.send("POST", "/auth/refresh", { body: { refreshToken }, repeat: true });
        ({ accessToken: bearer, refreshToken } = data);
      }
      await this.#server.send("POST", "/auth/logout", { body: { refreshToken, scope }, bearer, repeat: true });
    } catch (error) {
      // Without a refresh the other sessions go on.
      if (!endsSession(error) || (scope === "global" && error.code === "INVALID_REFRESH_TOKEN")) throw error;
    }
  }

  /**
   * Send the person to the flow's `url`, then call `endRedirect`.
   * @param {string} provider @param {FlowOptions & {redirectUri: string, state?: string}} options
   * @returns {Promise<Flow>}
   */
  async beginRedirect(provider, { redirectUri, purpose = "signIn", state, remember, parameters }) {
    const verifier = random(), path = `/auth/${purpose === "link" ? "identities" : "oauth"}/`;
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
    state ??= random();
    const body = {
      redirect_uri: redirectUri, code_challenge: base64url(new Uint8Array(hash)), state, remember, parameters,
    };
    const call = [`${path}${segment(provider)}/authorize`, { body, repeat: true }];
    const { data } = await (purpose === "signIn" ? this.#server.send("POST", ...call) : this.#call("POST", ...call));
    return { url: data.url, state, provider, redirectUri, purpose, remember, verifier };
  }

  /** @param {Flow} flow @param {string} address @param {FlowOptions} options @returns {Promise<SignedIn>} */
  async endRedirect(flow, address, { remember = flow.remember, onConflict } = {}) {
    const proof = Proof.redirect(flow, address);
    if (flow.purpose === "signIn") return this.signIn(proof, { remember });
    return flow.purpose === "link" ? /** @type {any} */ (this.link(proof, { onConflict })) : this.reauthenticate(proof);
  }

  /**
   * Leaves this page. The page at `redirectUri`, by default this one, must call `completeRedirect`.
   * @param {string} provider @param {FlowOptions} options @returns {Promise<never>}
   */
  async redirect(provider, options = {}) {
    const { redirectUri = location.origin + location.pathname, onConflict } = options;
    const flow = await this.beginRedirect(provider, { ...options, redirectUri });
    try {
      sessionStorage.setItem(flowKey(flow.state), JSON.stringify({ base: this.#server.base, flow, onConflict }));
    } catch {
      throw new GatehouseError("STORAGE_ERROR", "The browser stores nothing");
    }
    location.assign(flow.url);
    return new Promise(() => {});
  }

  /** Ends the flow that has led to this page, if one has; closes a popup. @returns {Promise<SignedIn | null>} */
  async completeRedirect() {
    const address = location.href, here = new URL(address), state = here.searchParams.get("state") ?? "";
    let text;
    try { text = sessionStorage.getItem(flowKey(state)); } catch { /* Forbidden. */ }
    const { base, flow, onConflict } = JSON.parse(text ?? "{}");
    if (flow ? base !== this.#server.base : !state.startsWith(POPUP)) return null;
    // The code leaves the address bar and the history.
    for (const name of ["code", "state", "iss", "error", "error_description"]) here.searchParams.delete(name);
    history.replaceState(history.state, "", here);
    if (flow) {
      sessionStorage.removeItem(flowKey(state));
      return this.endRedirect(flow, address, { onConflict });
    }
    const channel = new BroadcastChannel(flowKey(state));
    channel.postMessage(address);
    channel.close();
    // A frame in another site's page has other channels.
    opener?.postMessage({ [state]: address }, location.origin);
    close();
    return null;
  }

  /**
   * Call it in the handler of a click. The page at `redirectUri`, of this origin, must call `completeRedirect`.
   * @param {string} provider @param {FlowOptions & {onReturn?: () => void}} options @returns {Promise<SignedIn>}
   */
  async popup(provider, options = {}) {
    const { redirectUri = location.origin + location.pathname } = options;
    const popup = open("", "_blank", "popup,width=480,height=720");
    if (!popup) throw new GatehouseError("POPUP_BLOCKED", "The browser has blocked the popup");
    let channel, timer, hear;
    try {
      const state = POPUP + random();
      channel = new BroadcastChannel(flowKey(state));
      const flow = await this.beginRedirect(provider, { ...options, redirectUri, state });
      popup.location.replace(flow.url);
      const address = await new Promise((resolve, reject) => {
        channel.onmessage = ({ data }) => resolve(data);
        hear = ({ origin, data }) => { if (origin === location.origin && data?.[state]) resolve(data[state]); };
        addEventListener("message", hear);
        // A provider's page may hide that the popup is open.
        let seconds = 0;
        timer = setInterval(() => {
          seconds = popup.closed && document.hasFocus() ? seconds + 1 : 0;
          if (seconds > 2) reject(new GatehouseError("CANCELLED", "The popup was closed"));
        }, 1_000);
      });
      options.onReturn?.();
      return await this.endRedirect(flow, address, options);
    } finally {
      clearInterval(timer);
      channel?.close();
      removeEventListener("message", hear);
      popup.close();
    }
  }

  /** @returns {Promise<User>} */
  async user() { return this.#updated(await this.#call("GET", "/auth/me")); }

  /** @param {{displayName?: string, metadata?: Record<string, unknown>}} changes @returns {Promise<User>} */
  async updateUser(changes) { return this.#updated(await this.#call("PATCH", "/auth/me", { body: changes })); }

  #updated({ data, number }) {
    this.#keeper.update(data, number);
    return data;
  }

  /** Asks whether the session lives. */
  async #check(number) { if (this.#keeper.number === number) await this.user().catch(() => {}); }

  #forget({ response, number }, reason) {
    if (this.#keeper.number === number) this.#keeper.forget(reason);
    return response.headers.get("Location")?.split("/").pop() ?? null;
  }

  /** @returns {Promise<Entry[]>} */
  async sessions() { return (await this.#data("GET", "/auth/sessions")).sessions; }

  async endSession(/** @type {string} */ id) {
    await this.#check((await this.#call("DELETE", `/auth/sessions/${segment(id)}`)).number);
  }

  /** Returns a receipt for `erasure`. @returns {Promise<string | null>} */
  async deleteAccount() { return this.#forget(await this.#call("DELETE", "/auth/account"), "accountDeleted"); }

  /** @param {string} receipt @returns {Promise<{status: string, [member: string]: any}>} */
  async erasure(receipt) { return (await this.#server.send("GET", `/erasures/${segment(receipt)}`)).data; }

  /** @param {string} restoreToken of an `ACCOUNT_DELETED` @returns {Promise<SignedIn>} */
  async restoreAccount(restoreToken, { remember = true } = {}) {
    const answer = await this.#server.send("POST", "/auth/account/restore", { body: { restoreToken, remember } });
    return this.#keeper.adopt(answer, remember);
  }

  /** @returns {Promise<{fileName: string, stream: ReadableStream<Uint8Array>}>} */
  async exportAccount() {
    const { response } = await this.#call("GET", "/auth/account/export", { stream: true });
    return { fileName: `account-${this.session?.user.id}.json`, stream: response.body };
  }

  /** @returns {Promise<Entry[]>} */
  async identities() { return (await this.#data("GET", "/auth/identities")).identities; }

  /**
   * An address with a password joins the account once `verifyEmail` gets its mailed token.
   * @param {Proof} proof @param {{onConflict?: ConflictChoice}} options
   * @returns {Promise<SignedIn | {mailed: string}>}
   */
  async link(proof, { onConflict } = {}) {
    const body = { ...Proof.call(proof).body, onConflict };
    const answer = await this.#reopen(`/auth/identities/${segment(proof.provider)}`, body);
    return answer.response.status === 202 ? { mailed: answer.data.email } : this.#continued(answer);
  }

  /**
   * Proves again who is signed in, after a `TOKEN_TOO_OLD`.
   * @param {Proof} proof @param {{remember?: boolean}} options @returns {Promise<SignedIn>}
   */
  async reauthenticate(proof, { remember } = {}) {
    const body = { ...Proof.call(proof).body, provider: proof.provider };
    return this.#continued(await this.#reopen("/auth/reauthenticate", body, remember), remember);
  }

  /** @param {string} id @returns {Promise<{accountDeleted: boolean, receipt?: string | null}>} */
  async unlink(id) {
    const answer = await this.#call("DELETE", `/auth/identities/${segment(id)}`);
    if (answer.data.accountDeleted) return { accountDeleted: true, receipt: this.#forget(answer, "accountDeleted") };
    if (id === "current") this.#forget(answer, "identityRemoved");
    else await this.#check(answer.number);
    return { accountDeleted: false };
  }

  unlinkCurrent() { return this.unlink("current"); }

  /** @param {string} id @param {{email?: string, phone?: string}} address @returns {Promise<{challengeId: string}>} */
  changeAddress(id, address) { return this.#data("POST", `/auth/identities/${segment(id)}/address`, address); }

  /** @param {string} id @param {{challengeId: string}} sent @param {string} code @returns {Promise<Entry>} */
  async confirmAddress(id, { challengeId }, code) {
    const call = { body: { challengeId, code } };
    const { data, number } = await this.#call("POST", `/auth/identities/${segment(id)}/address/verify`, call);
    await this.#check(number);
    return data;
  }

  /** @param {string} mergeToken @param {"current" | "other"} survivor @returns {Promise<Record<string, any>>} */
  planMerge(mergeToken, survivor = undefined) {
    return this.#data("POST", "/auth/merge", { mergeToken, survivor, dryRun: true });
  }

  /** @param {string} mergeToken @param {"current" | "other"} survivor @returns {Promise<Entry>} */
  async merge(mergeToken, survivor = undefined) {
    const answer = await this.#reopen("/auth/merge", { mergeToken, survivor });
    this.#continued(answer);
    return answer.data.merge;
  }

  /** @returns {Promise<Entry[]>} */
  async merges() { return (await this.#data("GET", "/auth/merges")).merges; }

  async undoMerge(/** @type {string} */ id) {
    await this.#check((await this.#call("POST", `/auth/merges/${segment(id)}/undo`)).number);
  }
}

export default Gatehouse;
