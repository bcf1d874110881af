/**
 * A client of the service epicycle: durable timers over HTTP.
 *
 *     const client = new Client({ server: "http://127.0.0.1:8421" });
 *     await client.set("order-17", { value: { id: 17 }, in: "30m", to: { queue: "orders" } });
 *     await client.worker("orders", cancel, { concurrency: 10 }).run();
 *
 * It is one file, which needs nothing but fetch and the Web Crypto API. The types are those of /openapi.json. Durations are
 * text such as "1h30m", and times text of RFC 3339 or a Date.
 */

/** Where a timer is delivered: exactly one of webhook, subject and queue. method, headers and secret are for webhooks. */
export interface Target {
  webhook?: string;
  subject?: string;
  queue?: string;
  method?: string;
  headers?: Record<string, string>;
  secret?: string;
  /** Of an attempt. There must then be none beside to. */
  timeout?: string;
  /** There must then be none beside to. */
  retry?: Retry;
}

/** How often a timer is attempted, and how long it waits between two attempts. */
export interface Retry {
  attempts?: number;
  backoff?: string;
  most?: string;
}

/** Due some time after the last of several calls, but not later than some time after the first. */
export interface Debounce {
  quiet: string;
  longest?: string;
}

/** An attempt that has ended. */
export interface Attempt {
  at: string;
  took: string;
  status?: number;
  error?: string;
}

/** A timer in answers. */
export interface Timer<V = unknown> {
  key: string;
  value: V;
  /** The value as text, if JSON can't have it. */
  value_text?: string;
  to: Target;
  timeout: string;
  retry?: Retry;
  due: string;
  /** The same at each attempt, and never that of another timer. */
  id: string;
  attempt: number;
  state: "waiting" | "running" | "dead";
  schedule?: string;
  /** The schedule is paused: no attempt begins. */
  paused?: boolean;
  /** The limit because of which it waits, although it is due. */
  limited_by?: string;
  last_error?: string;
  last_error_at?: string;
  next?: string;
  attempts?: Attempt[];
}

/** What a timer is set to: exactly one of in, at, schedule and debounce. */
export interface Setting {
  value?: unknown;
  to: Target;
  in?: string;
  at?: string | Date;
  schedule?: string;
  /** With schedule: each run is later by a time within this duration, which the key determines. */
  spread?: string;
  /** With schedule: no run is before this time. */
  from?: string | Date;
  /** With schedule: no run is after this time. */
  until?: string | Date;
  debounce?: Debounce;
  timeout?: string;
  retry?: Retry;
}

export type Condition = "absent" | "sooner" | "later";

/** When a timer is moved to: exactly one of both. */
export interface Moving {
  in?: string;
  at?: string | Date;
}

export type Operation =
  | ({ op: "set"; key: string; if?: Condition } & Setting)
  | ({ op: "move"; key: string } & Moving)
  | { op: "remove"; key: string };

/** The result of an operation. If it is not ok, error says why. */
export interface Result {
  ok: boolean;
  error?: string;
}

/** Some timers. next is absent at the end. */
export interface Page<V = unknown> {
  timers: Timer<V>[];
  next?: string;
}

/** A firing that was taken from a queue. Its id is the same at each attempt. */
export interface Firing<V = unknown> {
  token: string;
  key: string;
  value: V;
  value_text?: string;
  due: string;
  id: string;
  attempt: number;
  timeout: string;
  traceparent?: string;
}

/** The fields of application/problem+json. */
export interface Problem {
  type?: string;
  title?: string;
  status?: number;
  detail?: string;
  timer?: Timer;
  imported?: number;
}

/** An answer that is an error. With status 409, timer is the timer that is there. */
export class EpicycleError extends Error {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly type: string;
  readonly timer?: Timer;
  /** The seconds to wait before the request is repeated. */
  readonly retryAfter: number;
  readonly problem: Problem;

  constructor(status: number, problem: Problem, retryAfter = 0) {
    super(problem.detail ?? `the server answered ${status}`);
    this.name = "EpicycleError";
    this.status = status;
    this.title = problem.title ?? "";
    this.detail = this.message;
    this.type = problem.type ?? "about:blank";
    this.timer = problem.timer;
    this.retryAfter = retryAfter;
    this.problem = problem;
  }
}

export interface Options {
  /** By default $EPICYCLE_SERVER, with the token $EPICYCLE_TOKEN, or http://127.0.0.1:8421. */
  server?: string;
  token?: string;
  /** Milliseconds, of each attempt to send a request; 30,000 by default. */
  timeout?: number;
  /** How often a request is sent that may be repeated; 5 by default. */
  attempts?: number;
  fetch?: typeof globalThis.fetch;
}

interface Call {
  body?: unknown;
  /** Whether it may be repeated if it is unknown whether it has taken hold. */
  again?: boolean;
  /** Milliseconds that the server may wait besides. */
  wait?: number;
  signal?: AbortSignal;
}

/**
 * Sends requests to a server. Requests are repeated where that is safe: those that set a timer with a condition, and those
 * that remove or revive one, are not if it is unknown whether they have taken hold. An answer that is an error is thrown as
 * an EpicycleError, and any other failure as fetch throws it.
 */
export class Client {
  readonly #server: string;
  readonly #headers: Record<string, string> = { "content-type": "application/json" };
  readonly #timeout: number;
  readonly #attempts: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: Options = {}) {
    let { server, token } = options;
    if (!server) {
      server = environment("EPICYCLE_SERVER") ?? "http://127.0.0.1:8421";
      token ??= environment("EPICYCLE_TOKEN");
    }
    const url = new URL(server.includes("://") ? server : "http://" + server);
    if (url.protocol !== "http:" && url.protocol !== "https:") throw new TypeError(`${server} is no URL of a server`);
    this.#server = url.origin + url.pathname.replace(/\/$/, "");
    if (token) this.#headers.authorization = "Bearer " + token;
    this.#timeout = options.timeout ?? 30_000;
    this.#attempts = options.attempts ?? 5;
    this.#fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  }

  /** Sets a timer. If there is one with this key, it is replaced, unless a condition is not met: then 409 is thrown. */
  async set<V = unknown>(key: string, setting: Setting, condition?: Condition): Promise<Timer<V>> {
    const query = { if: condition };
    return this.#send("PUT", timerPath(key, query), { body: setting, again: !condition });
  }

  /** Moves a timer, or returns undefined if there is none. */
  async move<V = unknown>(key: string, to: Moving): Promise<Timer<V> | undefined> {
    return this.#one("PATCH", timerPath(key), { body: to, again: true });
  }

  /** Pauses the schedule of a timer: no attempt begins until resume. Returns undefined if there is no timer. */
  async pause<V = unknown>(key: string): Promise<Timer<V> | undefined> {
    return this.#one("PATCH", timerPath(key), { body: { paused: true }, again: true });
  }

  /** Ends a pause. Runs that fell due in it are not made up for. */
  async resume<V = unknown>(key: string): Promise<Timer<V> | undefined> {
    return this.#one("PATCH", timerPath(key), { body: { paused: false }, again: true });
  }

  /** Returns a timer, or undefined. */
  async get<V = unknown>(key: string): Promise<Timer<V> | undefined> {
    return this.#one("GET", timerPath(key), { again: true });
  }

  /** Removes a timer and returns it, or undefined if there is none. */
  async remove<V = unknown>(key: string): Promise<Timer<V> | undefined> {
    return this.#one("DELETE", timerPath(key), {});
  }

  /** Makes a dead timer due now, or returns undefined if there is none. */
  async revive<V = unknown>(key: string): Promise<Timer<V> | undefined> {
    return this.#one("POST", timerPath(key, {}, "revive"), {});
  }

  /** Returns some timers in the order of their keys. next, if it is there, is the after of the next page. */
  async page<V = unknown>(q: { prefix?: string; state?: string; after?: string; limit?: number } = {}): Promise<Page<V>> {
    return this.#send("GET", "/v1/timers" + queryOf({ limit: 1000, ...q }), { again: true });
  }

  /** Yields all timers in the order of their keys, by pages of a limit. */
  async *list<V = unknown>(q: { prefix?: string; state?: string; limit?: number } = {}): AsyncGenerator<Timer<V>> {
    let after: string | undefined;
    do {
      const page: Page<V> = await this.page<V>({ ...q, after });
      yield* page.timers;
      after = page.next;
    } while (after);
  }

  /** Removes all timers whose keys begin with a prefix, or with an empty prefix all, and returns their number. */
  async removeAll(prefix: string): Promise<number> {
    for (let removed = 0; ; ) {
      const path = "/v1/timers" + queryOf(prefix ? { prefix } : { all: "true" });
      const some = await this.#send<{ removed: number; more?: boolean }>("DELETE", path, {});
      removed += some.removed;
      if (!some.more) return removed;
    }
  }

  /** Does up to 10,000 operations, and returns their results in their order. */
  async batch(operations: Operation[]): Promise<Result[]> {
    const fragile = operations.some((one) => one.op === "remove" || (one.op === "set" && one.if));
    return (await this.#send<{ results: Result[] }>("POST", "/v1/batch", { body: { operations }, again: !fragile })).results;
  }

  /** Takes up to max firings from a queue, and waits for the first one. A worker is a loop around it. */
  async take<V = unknown>(queue: string, max = 1, wait = "0s", signal?: AbortSignal): Promise<Firing<V>[]> {
    const call = { body: { max, wait }, again: true, wait: milliseconds(wait), signal };
    return (await this.#send<{ firings: Firing<V>[] }>("POST", queuePath(queue, "take"), call)).firings;
  }

  /** Ends firings that were taken. One whose attempt has timed out is not ok. */
  async done(queue: string, tokens: string[]): Promise<Result[]> {
    const call = { body: { tokens }, again: true };
    return (await this.#send<{ results: Result[] }>("POST", queuePath(queue, "done"), call)).results;
  }

  /** Has firings that were taken retried. error is the last_error of their timers. */
  async fail(queue: string, tokens: string[], error = ""): Promise<Result[]> {
    const call = { body: { tokens, error }, again: true };
    return (await this.#send<{ results: Result[] }>("POST", queuePath(queue, "fail"), call)).results;
  }

  /** Returns a worker, which takes firings from a queue. */
  worker<V = unknown>(queue: string, handle: Handler<V>, options: WorkerOptions = {}): Worker<V> {
    return new Worker(this, queue, handle, options);
  }

  async #one<T>(method: string, path: string, call: Call): Promise<T | undefined> {
    try {
      return await this.#send<T>(method, path, call);
    } catch (error) {
      if (error instanceof EpicycleError && error.status === 404 && error.problem.status) return undefined;
      throw error;
    }
  }

  /** Sends a request until there is an answer, or one that does not change. */
  async #send<T>(method: string, path: string, call: Call): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once<T>(method, path, call);
      } catch (error) {
        if (call.signal?.aborted || attempt >= this.#attempts || !passing(error, call.again)) throw error;
        await pause(attempt, error, call.signal);
      }
    }
  }

  async #once<T>(method: string, path: string, call: Call): Promise<T> {
    const limit = AbortSignal.timeout(this.#timeout + (call.wait ?? 0));
    const answer = await this.#fetch(this.#server + path, {
      method,
      headers: this.#headers,
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      signal: call.signal ? AbortSignal.any([call.signal, limit]) : limit,
    });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text) as T;
    throw new EpicycleError(answer.status, problemOf(text), Math.min(Number(answer.headers.get("retry-after")) || 0, 60));
  }
}

function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

function queryOf(parameters: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, text] of Object.entries(parameters)) if (text) query.set(name, String(text));
  return query.size ? "?" + query : "";
}

/** The path of a timer. URLs can't have the segments . and .., so these keys are in the query. */
function timerPath(key: string, query: Record<string, string | undefined> = {}, what = ""): string {
  if (key === "." || key === "..") return `/v1/timers/${what}` + queryOf({ ...query, key });
  return `/v1/timers/${encodeURIComponent(key)}${what && "/" + what}` + queryOf(query);
}

function queuePath(queue: string, what: string): string {
  return `/v1/queues/${encodeURIComponent(queue)}/${what}`;
}

function problemOf(text: string): Problem {
  try {
    const problem = JSON.parse(text);
    return problem?.status ? problem : {};
  } catch {
    return {};
  }
}

/** Whether a request that has failed can be repeated. */
function passing(error: unknown, again = false): boolean {
  if (error instanceof EpicycleError) return error.status === 429 || (again && [502, 503, 504].includes(error.status));
  if (error instanceof SyntaxError) return false;
  const code = ((error as Error)?.cause as { code?: string } | undefined)?.code;
  return again || code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN";
}

/** Waits: twice as long at each attempt, half of it random, and no less than the server asks for. */
async function pause(attempt: number, error: unknown, signal?: AbortSignal): Promise<void> {
  let time = Math.min(100 * 2 ** Math.min(attempt - 1, 10), 5000) * (0.5 + Math.random() / 2);
  if (error instanceof EpicycleError) time = Math.max(time, error.retryAfter * 1000);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(end, time);
    signal?.addEventListener("abort", end);
    function end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    }
  });
}

const units: Record<string, number> = { ns: 1e-6, us: 1e-3, "µs": 1e-3, "μs": 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** The milliseconds of a duration such as "1h30m". */
export function milliseconds(duration: string): number {
  const parts = [...duration.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)];
  if (parts.map((part) => part[0]).join("") !== duration || !duration) throw new TypeError(`${duration} is no duration such as 30m`);
  return parts.reduce((sum, part) => sum + Number(part[1]) * units[part[2]], 0);
}

/** Handles a firing. The signal is aborted when the attempt has timed out. */
export type Handler<V = unknown> = (firing: Firing<V>, signal: AbortSignal) => unknown;

export interface WorkerOptions {
  /** How many handlers run at once; 1 by default. */
  concurrency?: number;
  /** Is called with an error of the server or the network, after which the worker goes on. By default it is printed. */
  onError?: (error: unknown) => void;
}

/**
 * Takes firings from a queue and calls a handler with them. A firing is done if the handler returns, or its promise is
 * fulfilled; otherwise it is retried, as it is if that takes longer than the timeout of its timer.
 */
export class Worker<V = unknown> {
  readonly #client: Client;
  readonly #queue: string;
  readonly #handle: Handler<V>;
  readonly #concurrency: number;
  readonly #onError: (error: unknown) => void;
  readonly #stopped = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(client: Client, queue: string, handle: Handler<V>, options: WorkerOptions = {}) {
    this.#client = client;
    this.#queue = queue;
    this.#handle = handle;
    this.#concurrency = Math.max(1, options.concurrency ?? 1);
    this.#onError = options.onError ?? ((error) => console.warn("epicycle: a worker's request failed:", error));
  }

  /** Works until stop is called. It throws an EpicycleError if the server refuses to hand out firings. */
  async run(): Promise<void> {
    try {
      await this.#takeAll();
    } finally {
      await Promise.all(this.#running);
    }
  }

  /** Ends run once the handlers that run have returned, and the server knows their results. */
  stop(): void {
    this.#stopped.abort();
  }

  async #takeAll(): Promise<void> {
    const signal = this.#stopped.signal;
    const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    for (let attempt = 1; !signal.aborted; ) {
      const free = this.#concurrency - this.#running.size;
      if (free === 0) {
        await Promise.race([stopped, ...this.#running]);
        continue;
      }
      try {
        for (const firing of await this.#client.take<V>(this.#queue, free, "20s", signal)) this.#begin(firing);
        attempt = 1;
      } catch (error) {
        if (signal.aborted) return;
        if (!passing(error, true)) throw error;
        this.#onError(error);
        await pause(attempt++, error, signal);
      }
    }
  }

  #begin(firing: Firing<V>): void {
    const attempt: Promise<void> = this.#attempt(firing)
      .catch(this.#onError)
      .finally(() => this.#running.delete(attempt));
    this.#running.add(attempt);
  }

  async #attempt(firing: Firing<V>): Promise<void> {
    let result: Result;
    try {
      await this.#handle(firing, AbortSignal.timeout(milliseconds(firing.timeout)));
      [result] = await this.#client.done(this.#queue, [firing.token]);
    } catch (error) {
      [result] = await this.#client.fail(this.#queue, [firing.token], String(error));
    }
    if (!result.ok) throw new Error(`${firing.key}: ${result.error}`);
  }
}

/** A webhook does not come from the server, or did so some time ago. Answer 401. */
export class SignatureError extends Error {
  override name = "SignatureError";
}

/** A webhook. id and value are signed; the other fields are what its headers say. */
export interface Webhook<V = unknown> {
  /** The same at each attempt: effects that are stored with it happen once. */
  id: string;
  value: V;
  key: string;
  due: string;
  attempt: number;
}

type HeadersOf = Headers | Record<string, string | string[] | undefined>;
type Bytes = Uint8Array<ArrayBuffer>;
const bytesOf = (text: string): Bytes => new TextEncoder().encode(text);

/**
 * Returns a webhook, or throws a SignatureError unless the server has signed it, as Standard Webhooks specifies.
 *
 * keys has a key in each line: what is in the server's -secret-file (whsec_ and base64, for signatures v1), and public keys
 * (whpk_ and base64, for v1a). A text without any such prefix is one key, as it is. body must be what came, unchanged.
 * tolerance is how many seconds the time of the webhook may be from that of this machine.
 */
export async function verify<V = unknown>(
  keys: string, headers: HeadersOf, body: string | Uint8Array, tolerance = 300,
): Promise<Webhook<V>> {
  const known = keysOf(keys);
  const header = (name: string) => headerOf(headers, name);
  const [id, at] = [header("webhook-id"), header("webhook-timestamp")];
  if (!/^\d{1,15}$/.test(at)) throw new SignatureError("webhook-timestamp is no time");
  if (Math.abs(Date.now() / 1000 - Number(at)) > tolerance) {
    throw new SignatureError("the webhook is too old, or the clock of this machine is wrong");
  }
  const bytes = typeof body === "string" ? bytesOf(body) : body;
  const text = new Uint8Array([...bytesOf(`${id}.${at}.`), ...bytes]);
  for (const one of header("webhook-signature").split(/\s+/)) {
    if (!(await signed(one, text, known))) continue;
    const value = JSON.parse(new TextDecoder().decode(bytes)) as V;
    const key = decoded(header("epicycle-key"));
    return { id, value, key, due: header("epicycle-due"), attempt: Number(header("epicycle-attempt")) || 0 };
  }
  throw new SignatureError("the webhook is not signed by the server");
}

interface Key {
  version: "v1" | "v1a";
  bytes: Bytes;
}

function keysOf(text: string): Key[] {
  text = text.replace(/[\r\n]+$/, "");
  if (!text) throw new TypeError("there is no key");
  if (!/^(whsec|whpk)_/.test(text)) return [{ version: "v1", bytes: bytesOf(text) }];
  return text.split("\n").map((line) => line.trim()).filter(Boolean).map((line): Key => {
    const [, prefix, encoded] = /^(whsec_|whpk_)(.*)$/.exec(line) ?? [];
    const bytes = encoded ? fromBase64(encoded) : undefined;
    if (!bytes?.length || (prefix === "whpk_" && bytes.length !== 32)) {
      throw new TypeError("a key is not whsec_ or whpk_ and base64");
    }
    return { version: prefix === "whpk_" ? "v1a" : "v1", bytes };
  });
}

function fromBase64(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  } catch {
    return undefined;
  }
}

async function signed(signature: string, text: Bytes, keys: Key[]): Promise<boolean> {
  const [version, encoded = ""] = signature.split(",", 2);
  const given = fromBase64(encoded);
  if (!given) return false;
  for (const key of keys) {
    if (key.version !== version) continue;
    // Both compare in a time that does not depend on the signature.
    const algorithm = version === "v1" ? { name: "HMAC", hash: "SHA-256" } : { name: "Ed25519" };
    const imported = await crypto.subtle.importKey("raw", key.bytes, algorithm, false, ["verify"]);
    if (await crypto.subtle.verify(algorithm.name, imported, given, text)) return true;
  }
  return false;
}

function headerOf(headers: HeadersOf, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  for (const [one, value] of Object.entries(headers)) {
    if (one.toLowerCase() === name) return Array.isArray(value) ? value.join(" ") : value ?? "";
  }
  return "";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
