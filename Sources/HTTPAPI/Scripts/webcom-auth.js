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

/** The rule that refuses to re-authenticate with another account. */
const FOREIGN = "reauthentication.foreign";

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
  /** How many calls are running whose own callback comes before the registered ones; a popup counts once it returns. */
  #calls = 0;
  /** @type {[WebcomError | null, WebcomAuth | null][]} */
  #held = [];
  /** The identity that the registered callbacks know of. */
  #identity = "";
  /** @type {Promise<{name: string, [member: string]: any}[]> | undefined} */
  #providers;
  /** Whether a call was refused because the sign-in is too old, so that the next one must re-authenticate. */
  isStale = false;
  /** The providers whose pages do not tell when the person authenticated. */
  timeless = new Set();

  /** @param {string} url @param {import("./gatehouse.js").Storage | undefined} storage */
  constructor(url, storage) {
    // In a page, the session is shared with its other tabs; elsewhere, with the references to the same database.
    storage ??= typeof document === "undefined" ? memoryStorage() : undefined;
    this.client = new Gatehouse({ url, storage });
    this.#identity = identityOf(this.client.session);
    this.client.onChange((change) => {
      const former = this.#identity;
      if ("session" in change) this.#identity = identityOf(change.session);
      if (change.type === "signedOut") {
        this.#identity = "";
        this.isStale = false;
        this.#tell(null, null);
      } else if (change.type === "signedIn" || (change.type === "updated" && former && former !== this.#identity)) {
        // Linking opens a session of the linked identity.
        this.#tell(null, this.auth);
      }
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

  /** The name of a provider of that kind, which the application may call otherwise. */
  async provider(/** @type {string} */ kind) {
    this.#providers ??= this.client.providers();
    try {
      const named = (await this.#providers).filter((provider) => provider.kind === kind).map(({ name }) => name);
      return named.includes(kind) ? kind : named[0] ?? kind;
    } catch (error) {
      this.#providers = undefined;
      throw error;
    }
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
  run(call, callback, isLegacy, { signsIn = false, isQueued = true } = {}) {
    const perform = () => this.#perform(call, callback, isLegacy, signsIn, isQueued);
    const running = isQueued ? this.queue(perform) : perform();
    // An app that has registered a callback may ignore the promise.
    running.catch(() => {});
    return running;
  }

  async #perform(call, callback, isLegacy, signsIn, isQueued) {
    /** @type {WebcomError | null} */
    let error = null;
    let isCounted = false;
    const count = () => {
      isCounted = true;
      this.#calls++;
    };
    // One that is not queued waits for a person, and calls `count` itself before it changes who is signed in.
    if (isQueued) count();
    try {
      await call(this.client, count);
    } catch (failure) {
      error = failure;
    }
    const auth = error ? null : this.auth;
    if (error?.code === "TOKEN_TOO_OLD") this.isStale = true;
    else if (!error && signsIn) this.isStale = false;
    if (callback) inform(callback, error && told(error, isLegacy), auth);
    if (isCounted) this.#calls--;
    if (error) this.#held.push([error, null]);
    // A re-authentication changes nobody, and is told as every sign-in is.
    else if (signsIn && !this.#held.some(([, told]) => told)) this.#held.push([null, auth]);
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
    } catch (error) {
      // Where the browser forbids the storage nothing is stored, and that does not change.
      isKnown = error.code === "STORAGE_ERROR" && !this.client.session;
    }
    this.#calls--;
    // What it has changed is told below, once for all callbacks.
    if (!this.#calls) this.#held = [];
    if (isKnown) {
      const { auth } = this;
      this.#identity = identityOf(this.client.session);
      if (callback) inform(callback, null, auth);
      this.#tell(null, auth);
    } else {
      const again = () => this.resume(callback, Math.min(wait * 2, LONGEST_WAIT));
      void pauseUntilOnline(wait).then(() => this.queue(again));
    }
  }
}

const identityOf = (session) => (session ? `${session.auth.provider} ${session.auth.providerUid}` : "");

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
   * @param {{legacyCodes?: boolean, storage?: import("./gatehouse.js").Storage}} options `legacyCodes`: the error codes
   *   of versions up to 1.3.2. `storage`: where the session is kept instead of `localStorage`; that of the first
   *   reference to a database counts
   */
  constructor(database, { legacyCodes = false, storage = undefined } = {}) {
    const [, host, name] = /^(?:(https?:\/\/[^?#]+?)\/base\/)?([A-Za-z0-9][\w.-]*)\/?$/.exec(database) ?? [];
    if (!name) throw new TypeError("Expected the name of a database, or a URL with /base/ before it");
    if (!host && !server) throw new TypeError("Call Webcom.setBaseUrl first: this file did not come from a server");
    const url = `${host ? serverOf(host) : server}/apps/${encodeURIComponent(name)}`;
    this.#isLegacy = legacyCodes;
    this.#database = databases.get(url) ?? new Database(url, storage);
    databases.set(url, this.#database);
  }

  /** Calls back at each change: `(null, auth)`, `(null, null)` once nobody is signed in, or `(error, null)`. */
  registerAuthCallback(/** @type {AuthCallback} */ callback) { this.#database.callbacks.set(callback, this.#isLegacy); }

  unregisterAuthCallback(/** @type {AuthCallback} */ callback) { this.#database.callbacks.delete(callback); }

  /** Takes up the stored session, and calls back once it is known whether it lives.
   * @param {AuthCallback} [callback] */
  resume(callback) { return this.#database.queue(() => this.#database.resume(callback)); }

  /**
   * Signs in, or proves again who is signed in.
   * @param {{email: string, password: string, rememberMe?: boolean}} credentials `rememberMe: false` keeps the session
   *   in the page's memory
   * @param {AuthCallback} [callback]
   */
  authWithPassword({ email, password, rememberMe: remember }, callback) {
    return this.#signIn(async (client) => {
      if (client.session) {
        const provider = await this.#database.provider("email");
        try {
          return await client.reauthenticate(Proof.password({ email, password, provider }), { remember });
        } catch (error) {
          // The password is another account's, or the session has ended.
          if (client.session && error.rule !== FOREIGN) throw error;
        }
      }
      return client.signIn(Proof.password({ email, password }), { remember });
    }, callback);
  }

  /** Opens a guest's account, also if somebody is signed in: a guest cannot be linked.
   * @param {AuthCallback} [callback] @param {boolean} [remember] */
  authAnonymously(callback, remember) {
    return this.#signIn((client) => client.signIn(Proof.anonymous(), { remember }), callback);
  }

  /**
   * @param {string} token signed by the app's own server
   * @param {AuthCallback} [callback]
   * @param {boolean} [rememberMe]
   */
  authWithCustomToken(token, callback, rememberMe) {
    return this.#join("custom-token", (provider) => Proof.customToken(token, provider), callback, rememberMe);
  }

  /**
   * Signs in with the number of the mobile network that the device uses.
   * @param {AuthCallback} [callback]
   * @param {{assertion?: string, rememberMe?: boolean}} options `assertion`: signed by the operator
   */
  authWithMobileNetwork(callback, { assertion, rememberMe } = {}) {
    const proof = (provider) => Proof.mobileNetwork(assertion, provider);
    return this.#join("mobile-network", proof, callback, rememberMe);
  }

  /**
   * Signs in on the pages of a provider, in a popup.
   * @param {string | {provider: string, rememberMe?: boolean, redirectUri?: string,
   *   parameters?: Record<string, string>}} options `parameters` go to the page, such as Mobile Connect's `login_hint`
   * @param {AuthCallback} [callback]
   */
  authWithOAuth(options, callback) {
    const { provider, rememberMe = true, ...more } = typeof options === "string" ? { provider: options } : options;
    const database = this.#database, { client, isStale, timeless } = database;
    // Somebody who is signed in links the identity, and stays signed in for as long as before.
    /** @type {import("./gatehouse.js").Purpose} */
    const purpose = !client.session || (isStale && timeless.has(provider)) ? "signIn"
      : isStale ? "reauthenticate" : "link";
    const how = purpose === "signIn" ? { remember: rememberMe } : { purpose };
    const call = async (_client, onReturn) => {
      try {
        await client.popup(provider, { ...more, ...how, onReturn });
      } catch (error) {
        // Its next visit signs in.
        if (purpose === "reauthenticate" && error.code === "INVALID_TOKEN") timeless.add(provider);
        throw error;
      }
    };
    // Not queued: the browser allows the popup only at once.
    return database.run(call, callback, this.#isLegacy, { signsIn: true, isQueued: false });
  }

  /** Sends a code, for `authWithCode`.
   * @param {{email?: string, phone?: string, provider?: string}} address */
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
    const proof = (provider) => Proof.code({ ...sent, provider: sent.provider ?? provider }, code);
    return this.#join(sent.kind, proof, callback, rememberMe);
  }

  /**
   * Has a link mailed that confirms the address. If somebody is signed in the address joins the account, by a call of
   * `verifyEmail` with the token of the mail.
   * @param {{email: string, password: string}} credentials
   * @param {AuthCallback} [callback]
   */
  createUser(credentials, callback) {
    return this.#run(async (client) => {
      if (!client.session) return client.register(credentials);
      const provider = await this.#database.provider("email");
      await client.link(Proof.password({ ...credentials, provider }));
    }, callback);
  }

  /** Signs in with the token of the mail that `createUser` has sent.
   * @param {string} token @param {AuthCallback} [callback] */
  verifyEmail(token, callback) {
    return this.#signIn((client) => client.verifyEmail(token, { linking: !!client.session }), callback);
  }

  /** Signs out here at once, whether the server hears of it or not.
   * @param {(error: null) => void} [callback] */
  async logout(callback) { await this.#run((client) => client.signOut().catch(() => {}), callback); }

  /** Removes the identity that has signed in; removing the last one deletes the account. */
  removeIdentity() { return this.#remove((client) => client.unlinkCurrent()); }

  removeAccount() { return this.#remove((client) => client.deleteAccount()); }

  /** The access token for the database, renewed if necessary. @returns {Promise<string>} */
  token() { return this.#database.client.accessToken(); }

  /**
   * A sign-in; somebody who is signed in links the identity instead, or proves again who they are if that is needed.
   * @param {string} kind @param {(provider?: string) => Proof} proof by the provider of that kind
   */
  #join(kind, proof, callback, remember) {
    const database = this.#database;
    return this.#signIn(async (client) => {
      if (!client.session) return client.signIn(proof(), { remember });
      const joined = proof(await database.provider(kind));
      let tooOld;
      try {
        if (!database.isStale) return await client.link(joined);
      } catch (error) {
        // The server has not looked at the proof.
        if (error.code !== "TOKEN_TOO_OLD") throw error;
        tooOld = error;
      }
      try {
        return await client.reauthenticate(joined);
      } catch (error) {
        throw tooOld && error.rule === FOREIGN ? tooOld : error;
      }
    }, callback);
  }

  #signIn(call, callback) { return this.#run(call, callback, { signsIn: true }); }

  #run(call, callback, how = {}) { return this.#database.run(call, callback, this.#isLegacy, how); }

  async #remove(call) {
    const database = this.#database;
    try {
      await database.queue(() => call(database.client));
    } catch (error) {
      if (error.code === "TOKEN_TOO_OLD") database.isStale = true;
      const isSignedOut = error.code === "SIGNED_OUT";
      throw told(isSignedOut ? new GatehouseError("INVALID_TOKEN", "Nobody is signed in") : error, this.#isLegacy);
    }
  }
}

Object.assign(globalThis, { Webcom });

export { Webcom };
export default Webcom;
