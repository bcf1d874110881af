// The page of a server: a table of timers. Keys and values are shown as text alone, never as HTML.

import { Limits } from "./limits.js";

const $ = (id) => document.getElementById(id);
const rows = $("rows");
let next = "";      // the after of the next page
let shown = null;   // the timer in the details
let wanted = 0;     // how many rows the table is to have
let adding = false; // whether the next page is being read
let me = {};        // the role and prefix that the server gives to the token; empty until it has answered
let rested = 0;     // when the table may be read again by itself, so that a search of many timers does not take all of the server
let asked = 0;      // how often the table was read: an answer that comes late is left out

// exact keeps numbers as they were written, where the browser can: a number of JavaScript has 53 bits.
const exact = (_, value, context) =>
  typeof value === "number" && context?.source !== undefined && JSON.rawJSON && context.source !== String(value)
    ? JSON.rawJSON(context.source) : value;

// call sends a request. It throws an Error with the server's words. The body is an object, or JSON.
async function call(method, path, body) {
  const token = sessionStorage.getItem("token");
  const response = await fetch(path, {
    method,
    headers: token ? { Authorization: "Bearer " + token } : {},
    body: typeof body === "string" ? body : JSON.stringify(body),
  }).catch(() => { throw new Error("The server can't be reached."); });
  let answer = {};
  try {
    answer = JSON.parse(await response.text(), exact);
  } catch {
    // the status says what there is to say
  }
  if (response.status === 401) {
    begin();
  }
  if (!response.ok) {
    throw new Error(answer.detail || "The server answered " + response.status);
  }
  return answer;
}

// timerPath returns the path of a key, of what is done with it, and of a query. A browser takes dots alone for steps in the
// path, however they are written: such a key is in the query.
function timerPath(key, action = "", query = {}) {
  const dots = key === "." || key === "..";
  const text = new URLSearchParams(dots ? { key, ...query } : query).toString();
  return "v1/timers/" + (dots ? action : encodeURIComponent(key) + (action && "/" + action)) + (text && "?" + text);
}

function ask(why) {
  $("ask-error").textContent = why;
  if (!$("asking").open) $("asking").showModal();
}

const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const relative = new Intl.RelativeTimeFormat("en"); // with numeric: "auto", 30 hours would be tomorrow, on whatever day they end

function when(due) {
  const seconds = (new Date(due) - Date.now()) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) || units[3];
  return relative.format(Math.round(seconds / size), unit);
}

const moments = (time) => `${new Date(time).toLocaleString()} (${when(time)})`;

// own is what a timer has of its own for its attempts. Of headers it shows the names alone.
const own = ({ to, retry }) => ({
  Method: to.method, Headers: to.headers && Object.keys(to.headers).join(", "), Secret: to.secret,
  Retries: retry && Object.entries(retry).map((one) => one.join(" ")).join(", "),
});

// stateOf is the state of a timer, and paused if it waits because of that.
const stateOf = ({ state, paused }) => (paused && state === "waiting" ? "paused" : state);

const target = (to) => to.webhook || (to.queue ? "queue " + to.queue : "subject " + to.subject);

function cell(row, label, content, title) {
  const td = row.insertCell();
  td.dataset.label = label;
  const box = document.createElement("div");
  box.append(content);
  td.append(box);
  if (title) box.title = title;
  return box;
}

function rowOf(timer) {
  const row = document.createElement("tr");
  const open = document.createElement("button");
  open.type = "button";
  open.textContent = timer.key;
  open.addEventListener("click", () => look(timer.key));
  cell(row, "Key", open);
  cell(row, "State", stateOf(timer)).className = timer.state;
  const next = timer.next || timer.due;
  cell(row, "Next", timer.state === "dead" ? "never" : when(next), next);
  cell(row, "Attempt", String(timer.attempt));
  cell(row, "To", target(timer.to));
  cell(row, "Last error", timer.last_error || "", timer.last_error_at);
  return row;
}

const limits = new Limits(call, cell);

const mayWrite = () => me.role === "write" || me.role === "admin";

const pageSize = 100;
const maxPage = 1000; // what the server gives at once

async function page(after, limit) {
  const query = new URLSearchParams({ prefix: $("prefix").value, state: $("state").value, after, limit });
  for (const [name, value] of [...query]) if (!value) query.delete(name);
  return call("GET", "v1/timers?" + query);
}

// beginning reads the first rows, as after a change of what is searched.
function beginning() {
  wanted = pageSize;
  return refresh();
}

// refresh reads the rows again that are shown.
async function refresh() {
  const all = [];
  let after = "";
  await reading(async (current) => {
    do {
      const answer = await page(after, Math.min(maxPage, wanted - all.length));
      all.push(...answer.timers);
      after = answer.next || "";
    } while (after && all.length < wanted && current());
  }, () => {
    next = after;
    fill(all.map(rowOf));
  });
}

// more reads the next rows, and leaves those that are shown.
async function more() {
  if (adding) return;
  adding = true;
  wanted += pageSize;
  let answer;
  await reading(async () => { answer = await page(next, pageSize); }, () => {
    next = answer.next || "";
    rows.append(...answer.timers.map(rowOf));
  });
  adding = false;
}

// reading reads, shows what was read, and says how many rows there are, unless the table is read anew meanwhile.
async function reading(read, showIt) {
  const mine = ++asked;
  const current = () => mine === asked;
  const begun = Date.now();
  let text;
  try {
    await read(current);
    if (!current()) return;
    showIt();
    const n = rows.rows.length;
    text = n === 0 ? "No timers." : `${n} ${n === 1 ? "timer" : "timers"}${next ? ", and more" : ""}`;
  } catch (error) {
    text = error.message;
  }
  if (!current()) return;
  rested = Date.now() + 10 * (Date.now() - begun);
  if ($("status").textContent !== text) $("status").textContent = text; // which is read out when it changes
  $("more").hidden = !next;
}

// fill replaces the rows, and leaves the focus on the key that has it, or on the next one if it is gone.
function fill(fresh) {
  const old = [...rows.querySelectorAll("button")];
  const place = old.indexOf(document.activeElement);
  rows.replaceChildren(...fresh);
  if (place >= 0) focusKey(old[place].textContent, place);
}

// focusKey focuses a key in the table, or what is at its place.
function focusKey(key, place) {
  const all = [...rows.querySelectorAll("button")];
  (all.find((button) => button.textContent === key) || all[Math.min(place, all.length - 1)] || $("prefix")).focus();
}

// look shows the details of a timer as it is now.
async function look(key) {
  try {
    show(await call("GET", timerPath(key)));
  } catch (error) {
    $("status").textContent = error.message;
  }
}

// attempted shows an attempt that has ended.
function attempted({ at, took, status, error }) {
  const item = document.createElement("li");
  item.textContent = `${moments(at)}, ${took}${status ? ", status " + status : ""}: ${error || "done"}`;
  return item;
}

function show(timer) {
  shown = timer;
  $("details-key").textContent = timer.key;
  const list = $("details-list");
  list.replaceChildren();
  const facts = {
    State: stateOf(timer), Due: moments(timer.due), "Next attempt": timer.next && moments(timer.next), Schedule: timer.schedule,
    To: target(timer.to), ...own(timer), Timeout: timer.timeout, Attempt: timer.attempt, ID: timer.id,
    "Waits for": timer.limited_by, "Last error": timer.last_error, Failed: timer.last_error_at && moments(timer.last_error_at),
  };
  for (const [name, fact] of Object.entries(facts)) {
    if (fact === undefined) continue;
    const dt = document.createElement("dt");
    dt.textContent = name;
    const dd = document.createElement("dd");
    dd.textContent = fact;
    list.append(dt, dd);
  }
  $("attempts").hidden = !timer.attempts;
  $("attempts-list").replaceChildren(...(timer.attempts || []).map(attempted));
  $("details-value").textContent = timer.value_text ?? JSON.stringify(timer.value, null, 2);
  $("details-error").textContent = "";
  $("move-when").value = "";
  $("move").hidden = !mayWrite() || timer.state === "dead";
  $("run").hidden = $("move").hidden;
  $("pause").hidden = $("move").hidden || !timer.schedule;
  $("pause").textContent = timer.paused ? "Resume" : "Pause";
  $("revive").hidden = !mayWrite() || timer.state !== "dead";
  if ($("details").open) return;
  $("details").showModal();
  $("details-key").focus(); // the top of a long one, too
}

// change does something with the timer in the details.
async function change(method, action, body, close) {
  try {
    const timer = await call(method, timerPath(shown.key, action), body);
    if (close) $("details").close();
    else if ($("details").open) show(timer); // unless it was closed meanwhile
    refresh();
  } catch (error) {
    $("details-error").textContent = error.message;
  }
}

// run makes the timer in the details due now, and shows a moment later what has come of it.
async function run() {
  const { key } = shown;
  await change("PATCH", "", { in: "0s" });
  setTimeout(async () => {
    await refresh();
    if (!$("details").open || shown.key !== key) return;
    if ([...rows.querySelectorAll("button")].some((button) => button.textContent === key)) look(key);
    else $("details-error").textContent = "The timer has ended.";
  }, 1000);
}

// moment returns in or at, as the text is one.
const moment = (text) => (/^\d{4}-/.test(text) ? { at: text } : { in: text });

// write writes a text into a field of the form, and read returns it unless the user has written something else: a field
// drops newlines, but keys and queues may have some.
const written = new Map();
function write(id, text) {
  $(id).value = text;
  written.set(id, { shown: $(id).value, text });
}
const read = (id) => ($(id).value === written.get(id)?.shown ? written.get(id).text : $(id).value);

// kinds shows what belongs to the kind of time in the form.
function kinds() {
  for (const label of document.querySelectorAll("[data-kinds]")) {
    label.hidden = !label.dataset.kinds.split(" ").includes($("set-when-kind").value);
  }
}

// whenOf returns when the timer in the form is due.
function whenOf() {
  const kind = $("set-when-kind").value;
  if (kind === "debounce") return { debounce: { quiet: $("set-quiet").value, longest: $("set-longest").value } };
  const when = { [kind]: $("set-when").value };
  if (kind !== "schedule") return when;
  for (const name of ["spread", "from", "until"]) if ($("set-" + name).value) when[name] = $("set-" + name).value;
  return when;
}

let kept = {}; // what the form has no fields for, of the timer that is set anew

function edit(timer) {
  $("set").reset();
  kept = timer ? { to: timer.to, retry: timer.retry } : {};
  const facts = timer ? Object.entries(own(timer)).filter(([, fact]) => fact) : [];
  $("set-kept").hidden = !facts.length;
  $("set-kept").textContent = "Kept: " + facts.map(([name, fact]) => `${name.toLowerCase()} ${fact}`).join("; ");
  written.clear();
  $("set-error").textContent = "";
  $("set-key").value = me.prefix;
  if (timer) {
    write("set-key", timer.key);
    $("set-when-kind").value = timer.schedule ? "schedule" : "at";
    $("set-when").value = timer.schedule || timer.due;
    const kind = Object.keys(timer.to)[0];
    $("set-to-kind").value = kind;
    write("set-to", timer.to[kind]);
    $("set-timeout").value = timer.timeout;
    $("set-value").value = timer.value_text ?? JSON.stringify(timer.value, null, 2);
  }
  kinds();
  $("setting").showModal();
}

async function set() {
  try {
    const kind = $("set-to-kind").value;
    const to = { ...(kind === "webhook" && kept.to?.webhook ? kept.to : {}), [kind]: read("set-to") };
    const body = { ...whenOf(), to, retry: kept.retry };
    const value = $("set-value").value.trim() || "null";
    JSON.parse(value); // or throws
    if ($("set-timeout").value) body.timeout = $("set-timeout").value;
    const condition = $("set-if").value;
    await call("PUT", timerPath(read("set-key"), "", condition ? { if: condition } : {}), JSON.stringify(body).slice(0, -1) + `,"value":${value}}`);
    $("setting").close();
    refresh();
  } catch (error) {
    $("set-error").textContent = error instanceof SyntaxError ? "The value is not JSON: " + error.message : error.message;
  }
}

// live shows the live page, for which the server gives a ticket.
async function live() {
  try {
    $("frame").src = (await call("POST", "v1/live")).path;
  } catch {
    // the table says what is wrong
  }
}

// begin shows what the token may see, or has the user give one.
async function begin() {
  let text = "";
  try {
    me = await call("GET", "page/who");
  } catch (error) {
    me = {};
    text = error.message;
  }
  const token = sessionStorage.getItem("token");
  $("token-button").textContent = token && me.role !== "none" ? "Forget the token" : "Give a token";
  $("token-button").hidden = !token && me.role !== "none";
  $("new").hidden = $("edit").hidden = $("remove").hidden = !mayWrite();
  if (me.role === "none") {
    sessionStorage.removeItem("token");
    asked++;
    rows.replaceChildren();
    limits.clear();
    $("more").hidden = true;
    $("frame").removeAttribute("src");
    text = "This server needs a token.";
    ask(token ? "The server does not know this token." : "");
  } else if (me.role) {
    $("live").hidden = document.querySelector("[href='#live']").hidden = Boolean(me.prefix); // it has the figures of all keys
    if (!me.prefix) live();
    limits.begin(me);
    return beginning();
  }
  $("status").textContent = text;
}

// forget forgets the token, and has the user give another.
function forget() {
  sessionStorage.removeItem("token");
  begin();
}

// settle gives the focus back after a dialog if what had it was replaced meanwhile. The focus may be in the closed dialog
// until the browser draws the page again.
function settle() {
  const at = document.activeElement;
  if (at === document.body || at.closest("dialog:not([open])")) focusKey(shown?.key, 0);
}

const on = (id, event, f) => $(id).addEventListener(event, (e) => { if (event === "submit") e.preventDefault(); f(e); });
let typing;
on("prefix", "input", () => { clearTimeout(typing); typing = setTimeout(beginning, 200); });
on("state", "change", beginning);
on("search", "submit", refresh);
on("more", "click", more);
on("new", "click", () => edit(null));
on("set", "submit", set);
on("set-when-kind", "change", kinds);
on("set-cancel", "click", () => $("setting").close());
on("close", "click", () => $("details").close());
on("edit", "click", () => { $("details").close(); edit(shown); });
on("move", "submit", () => change("PATCH", "", moment($("move-when").value.trim())));
on("run", "click", run);
on("pause", "click", () => change("PATCH", "", { paused: !shown.paused }));
on("revive", "click", () => change("POST", "revive"));
on("remove", "click", () => { if (confirm("Remove the timer " + shown.key + "?")) change("DELETE", "", undefined, true); });
on("token-button", "click", forget);
on("details", "close", settle);
on("setting", "close", settle);
on("ask", "submit", () => { sessionStorage.setItem("token", $("token").value.trim()); $("token").value = ""; $("asking").close(); begin(); });

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, dialog")) return;
  if (e.key === "/") { e.preventDefault(); $("prefix").focus(); }
  if (e.key === "n" && mayWrite()) { e.preventDefault(); edit(null); }
});
setInterval(() => {
  if (document.hidden || document.querySelector("dialog[open]") || me.role === "none" || adding || Date.now() < rested) return;
  if (me.role) {
    refresh();
    limits.refresh();
  } else begin();
}, 5000);
begin();
