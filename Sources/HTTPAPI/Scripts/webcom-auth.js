// @ts-check
// The authentication calls of the Webcom library by their own names, over `gatehouse.js`.
//
// The state of a database (an application) is the same for all its references in a page.

import { Gatehouse, GatehouseError, Proof, memoryStorage } from "./gatehouse.js";

/**
 * @typedef {{webcomAuthToken: string | undefined, expires: number, provider: string, providerUid: string,
 *   createdAt: number, uid: string, displayName?: string, [member: string]: any}} WebcomAuth
 *   `webcomAuthToken` is read when it is needed, because each refresh changes it. Times are seconds since the epoch.
 * @typedef {{code: string, message: string, [member: string]: any}} WebcomError
 * @typedef {(error: WebcomError | null, auth?: WebcomAuth | null) => void} AuthCallback
 */

/** The codes of versions up to 1.3.2, for the option `legacyCodes`. */
const LEGACY_CODES = {
  INVALID_CREDENTIALS: "INVALID_PASSWORD", EXISTING_IDENTITY: "EMAIL_TAKEN", UNVERIFIED_IDENTITY: "UNVERIFIED_ACCOUNT",
};

/** How often a visible page asks whether its session lives, in milliseconds. */
const CHECK_INTERVAL = 300_000;
/** Pauses between attempts to resume without an answer, in milliseconds. */
const FIRST_WAIT = 5_000, LONGEST_WAIT = 300_000;

/** The server without an application's prefix. */
const serverOf = (url) => new URL(url).href.replace(/[?#].*$/, "").replace(/\/+$/, "").replace(/\/apps\/[^/]+$/, "");

/** Where the script came from, if that is a server. */
const here = new URL("..", import.meta.url);
let server = here.protocol.startsWith("http") ? serverOf(here) : "";

/** @type {Map<string, Database>} */
const databases = new Map();

/** The state of one database. */
class Database {
  /** @type {Map<AuthCallback, boolean>} the registered callbacks, and whether they expect legacy codes */
  callbacks = new Map();
  /** @type {Promise<unknown>} the last call of the queue */
  #last = Promise.resolve();
  /** How many calls are running whose own callback comes before the registered ones. */
  #calls = 0;
  /** @type {[WebcomError | null, WebcomAuth | null][]} */
  #held = [];

  /** @param {string} url */
  constructor(url) {
    // In a page, the session is shared with its other tabs; elsewhere, with the references to the same database.
    this.client = new Gatehouse({ url, ...(typeof document === "undefined" && { storage: memoryStorage() }) });
    this.client.onChange((change) => {
      if (change.type === "signedIn") this.#tell(null, this.auth);
      else if (change.type === "signedOut") this.#tell(null, null);
    });
    if (typeof document === "undefined") return;
    setInterval(() => {
      if (this.callbacks.size && this.client.session && document.visibilityState === "visible") {
        this.client.user().catch(() => {});
      }
    }, CHECK_INTERVAL);
  }

  /** @returns {WebcomAuth | null} */
  get auth() {
    const { client } = this, { session } = client;
    if (!session) return null;
    const { sessionExpires, displayName, ...auth } = session.auth;
    // The end of the session moves with each refresh; that of the access token is known.
    const expires = Math.max(sessionExpires ?? 0, auth.expires);
    const shown = { ...auth, expires, ...(displayName != null && { displayName }) };
    Object.defineProperty(shown, "webcomAuthToken", { enumerable: true, get: () => client.currentAccessToken });
    return /** @type {any} */ (shown);
  }

  /** Calls the registered callbacks, after the own callback of a call that is running. */
  #tell(error, auth) {
    if (this.#calls) return void this.#held.push([error, auth]);
    for (const [callback, isLegacy] of [...this.callbacks]) inform(callback, error && told(error, isLegacy), auth);
  }

  /**
   * Runs calls one after the other, in the order in which the app makes them.
   * @returns {Promise<any>}
   */
  queue(call) {
    const result = this.#last.then(call);
    this.#last = result.catch(() => {});
    return result;
  }

  /**
   * Runs a call that changes who is signed in, then calls its own callback and the registered ones. Without a callback
   * of its own, the promise is rejected with the error.
   * @returns {Promise<WebcomAuth | null>}
   */
  run(call, callback, isLegacy, isQueued = true) {
    const perform = () => this.#perform(call, callback, isLegacy);
    const running = isQueued ? this.queue(perform) : perform();
    // An app that has registered a callback may ignore the promise.
    running.catch(() => {});
    return running;
  }

  async #perform(call, callback, isLegacy) {
    /** @type {WebcomError | null} */
    let error = null;
    this.#calls++;
    try {
      await call(this.client);
    } catch (failure) {
      error = failure;
    }
    const auth = error ? null : this.auth;
    if (callback) inform(callback, error && told(error, isLegacy), auth);
    this.#calls--;
    if (error) this.#held.push([error, null]);
    if (!this.#calls) for (const change of this.#held.splice(0)) this.#tell(...change);
    if (error && !callback) throw told(error, isLegacy);
    return auth;
  }

  /** Resumes, and without an answer tries again until there is one. */
  async resume(callback, wait = FIRST_WAIT) {
    this.#calls++;
    let isKnown = true;
    try {
      await this.client.resume();
    } catch {
      isKnown = false;
    }
    this.#calls--;
    // What it has changed is told below, once for all callbacks.
    if (!this.#calls) this.#held = [];
    if (isKnown) {
      const { auth } = this;
      if (callback) inform(callback, null, auth);
      this.#tell(null, auth);
    } else {
      const again = () => this.resume(callback, Math.min(wait * 2, LONGEST_WAIT));
      void pauseUntilOnline(wait).then(() => this.queue(again));
    }
  }
}

/** Calls a callback; what it throws is reported as from any event handler. */
function inform(callback, ...values) {
  try { callback(...values); } catch (error) { (globalThis.reportError ?? console.error)(error); }
}

/** An error as its callbacks expect it. */
function told(error, isLegacy) {
  const { code = "INTERNAL", message, details = {} } = error;
  return { ...details, code: (isLegacy && LEGACY_CODES[code]) || code, message };
}

function pauseUntilOnline(milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(end, milliseconds);
    /** @type {any} */ (timer).unref?.();
    globalThis.addEventListener?.("online", end);
    function end() {
      clearTimeout(timer);
      globalThis.removeEventListener?.("online", end);
      resolve(undefined);
    }
  });
}

/** A reference to a database. */
class Webcom {
  #database;
  #isLegacy;

  /** The server that the names of databases belong to; by default where this file came from. */
  static setBaseUrl(/** @type {string} */ url) { server = serverOf(url); }

  /**
   * @param {string} database its name, or the URL `[[baseUrl]]/base/<name>`
   * @param {{legacyCodes?: boolean}} options `legacyCodes`: the error codes of versions up to 1.3.2
   */
  constructor(database, { legacyCodes = false } = {}) {
    const [, host, name] = /^(?:(https?:\/\/[^?#]+?)\/base\/)?([A-Za-z0-9][\w.-]*)\/?$/.exec(database) ?? [];
    if (!name) throw new TypeError("Expected the name of a database, or a URL with /base/ before it");
    if (!host && !server) throw new TypeError("Call Webcom.setBaseUrl first: this file did not come from a server");
    const url = `${host ? serverOf(host) : server}/apps/${encodeURIComponent(name)}`;
    this.#isLegacy = legacyCodes;
    this.#database = databases.get(url) ?? new Database(url);
    databases.set(url, this.#database);
  }

  /** Calls back at each change: `(null, auth)`, `(null, null)` once nobody is signed in, or `(error, null)`. */
  registerAuthCallback(/** @type {AuthCallback} */ callback) { this.#database.callbacks.set(callback, this.#isLegacy); }

  unregisterAuthCallback(/** @type {AuthCallback} */ callback) { this.#database.callbacks.delete(callback); }

  /** Takes up the stored session, and calls back once it is known whether it lives.
   * @param {AuthCallback} [callback] */
  resume(callback) { return this.#database.queue(() => this.#database.resume(callback)); }

  /**
   * @param {{email: string, password: string, rememberMe?: boolean}} credentials `rememberMe: false` keeps the session
   *   in the page's memory
   * @param {AuthCallback} [callback]
   */
  authWithPassword({ email, password, rememberMe }, callback) {
    return this.#signIn(Proof.password({ email, password }), rememberMe, callback);
  }

  /** @param {AuthCallback} [callback] @param {boolean} [rememberMe] */
  authAnonymously(callback, rememberMe) { return this.#signIn(Proof.anonymous(), rememberMe, callback); }

  /**
   * @param {string} token signed by the app's own server
   * @param {AuthCallback} [callback]
   * @param {boolean} [rememberMe]
   */
  authWithCustomToken(token, callback, rememberMe) {
    return this.#signIn(Proof.customToken(token), rememberMe, callback, true);
  }

  /**
   * Signs in on the pages of a provider, in a popup.
   * @param {string | {provider: string, rememberMe?: boolean, redirectUri?: string,
   *   parameters?: Record<string, string>}} options `parameters` go to the page, such as Mobile Connect's `login_hint`
   * @param {AuthCallback} [callback]
   */
  authWithOAuth(options, callback) {
    const { provider, rememberMe = true, ...more } = typeof options === "string" ? { provider: options } : options;
    const { client } = this.#database;
    // Somebody who is signed in links the identity, and stays signed in for as long as before.
    const how = client.session ? { purpose: /** @type {const} */ ("link") } : { remember: rememberMe };
    // Not queued: the browser allows the popup only at once.
    const call = () => client.popup(provider, { ...more, ...how });
    return this.#database.run(call, callback, this.#isLegacy, false);
  }

  /** Sends a code, for `authWithCode`.
   * @param {{email?: string, phone?: string}} address */
  sendCode(address) {
    const { client } = this.#database;
    return client.sendCode({ ...address, purpose: client.session ? "link" : "signIn" });
  }

  /**
   * @param {import("./gatehouse.js").SentCode} sent
   * @param {string} code
   * @param {AuthCallback} [callback]
   * @param {boolean} [rememberMe]
   */
  authWithCode(sent, code, callback, rememberMe) {
    return this.#signIn(Proof.code(sent, code), rememberMe, callback, true);
  }

  /**
   * Has a link mailed that confirms the address.
   * @param {{email: string, password: string}} credentials
   * @param {AuthCallback} [callback]
   */
  createUser(credentials, callback) {
    return this.#run((client) => client.register(credentials), callback);
  }

  /** Signs out here at once, whether the server hears of it or not.
   * @param {(error: null) => void} [callback] */
  async logout(callback) { await this.#run((client) => client.signOut().catch(() => {}), callback); }

  /** Removes the identity that has signed in; removing the last one deletes the account. */
  removeIdentity() { return this.#remove((client) => client.unlinkCurrent()); }

  removeAccount() { return this.#remove((client) => client.deleteAccount()); }

  /** The access token for the database, renewed if necessary. @returns {Promise<string>} */
  token() { return this.#database.client.accessToken(); }

  /** A sign-in; with `joins`, somebody who is signed in links the identity instead. */
  #signIn(proof, rememberMe = true, callback = undefined, joins = false) {
    return this.#run(
      (client) => (joins && client.session ? client.link(proof) : client.signIn(proof, { remember: rememberMe })),
      callback);
  }

  #run(call, callback) { return this.#database.run(call, callback, this.#isLegacy); }

  async #remove(call) {
    const database = this.#database;
    try {
      await database.queue(() => call(database.client));
    } catch (error) {
      const isSignedOut = error.code === "SIGNED_OUT";
      throw told(isSignedOut ? new GatehouseError("INVALID_TOKEN", "Nobody is signed in") : error, this.#isLegacy);
    }
  }
}

Object.assign(globalThis, { Webcom });

export { Webcom };
export default Webcom;
