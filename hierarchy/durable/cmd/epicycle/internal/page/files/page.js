// The page of a server: a table of timers. Keys and values are shown as text alone, never as HTML.

const $ = (id) => document.getElementById(id);
const rows = $("rows");
let next = "";      // the after of the next page
let shown = null;   // the timer in the details
let pages = 1;      // how many pages the table has

// call asks the server. It throws an Error with the server's words.
async function call(method, path, body) {
  const token = sessionStorage.getItem("token");
  const response = await fetch(path, {
    method,
    headers: token ? { Authorization: "Bearer " + token } : {},
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401) {
    ask(token ? "The server does not know this token." : "");
  }
  if (!response.ok) {
    throw new Error(answer.detail || "The server answered " + response.status);
  }
  return answer;
}

// timerPath returns the path of a key. A browser takes dots alone for steps in the path, however they are written.
function timerPath(key) {
  if (key === "." || key === "..") {
    throw new Error("A browser can't send the key " + key + ". Use the command line.");
  }
  return "v1/timers/" + encodeURIComponent(key);
}

function ask(why) {
  $("ask-error").textContent = why;
  if (!$("asking").open) $("asking").showModal();
}

const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

function when(due) {
  const seconds = (new Date(due) - Date.now()) / 1000;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) || units[3];
  return relative.format(Math.round(seconds / size), unit);
}

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
  open.addEventListener("click", () => show(timer));
  cell(row, "Key", open);
  cell(row, "State", timer.state).className = timer.state;
  cell(row, "Due", timer.state === "dead" ? "never" : when(timer.due), timer.due);
  cell(row, "Attempt", String(timer.attempt));
  cell(row, "To", target(timer.to));
  return row;
}

async function page(after) {
  const query = new URLSearchParams({ prefix: $("prefix").value, state: $("state").value, after });
  for (const [name, value] of [...query]) if (!value) query.delete(name);
  return call("GET", "v1/timers?" + query);
}

// refresh reads the pages again that are shown.
async function refresh() {
  try {
    const all = [];
    next = "";
    for (let i = 0; i < pages; i++) {
      const answer = await page(next);
      all.push(...answer.timers);
      next = answer.next || "";
      if (!next) break;
    }
    fill(all.map(rowOf));
    $("status").textContent = all.length === 0 ? "No timers." : `${all.length} timers${next ? ", and more" : ""}`;
  } catch (error) {
    $("status").textContent = error.message;
  }
  $("more").hidden = !next;
}

// fill replaces the rows, and leaves the focus on the key that has it.
function fill(fresh) {
  const focused = rows.contains(document.activeElement) ? document.activeElement.textContent : null;
  rows.replaceChildren(...fresh);
  if (focused === null) return;
  for (const button of rows.querySelectorAll("button")) {
    if (button.textContent === focused) button.focus();
  }
}

function show(timer) {
  shown = timer;
  $("details-key").textContent = timer.key;
  const list = $("details-list");
  list.replaceChildren();
  const facts = {
    State: timer.state, Due: `${new Date(timer.due).toLocaleString()} (${when(timer.due)})`, Schedule: timer.schedule,
    To: target(timer.to), Timeout: timer.timeout, Attempt: timer.attempt, ID: timer.id, "Last error": timer.error,
  };
  for (const [name, fact] of Object.entries(facts)) {
    if (fact === undefined) continue;
    const dt = document.createElement("dt");
    dt.textContent = name;
    const dd = document.createElement("dd");
    dd.textContent = fact;
    list.append(dt, dd);
  }
  $("details-value").textContent = JSON.stringify(timer.value, null, 2);
  $("details-error").textContent = "";
  $("move").hidden = timer.state === "dead";
  $("revive").hidden = timer.state !== "dead";
  if (!$("details").open) $("details").showModal();
}

// change does something with the timer in the details.
async function change(method, path, body, close) {
  try {
    const timer = await call(method, timerPath(shown.key) + path, body);
    if (close) $("details").close();
    else show(timer);
    refresh();
  } catch (error) {
    $("details-error").textContent = error.message;
  }
}

// moment returns in or at, as the text is one.
const moment = (text) => (/^\d{4}-/.test(text) ? { at: text } : { in: text });

function edit(timer) {
  $("set").reset();
  $("set-error").textContent = "";
  if (timer) {
    $("set-key").value = timer.key;
    $("set-when-kind").value = timer.schedule ? "schedule" : "at";
    $("set-when").value = timer.schedule || timer.due;
    const kind = Object.keys(timer.to)[0];
    $("set-to-kind").value = kind;
    $("set-to").value = timer.to[kind];
    $("set-timeout").value = timer.timeout;
    $("set-value").value = JSON.stringify(timer.value, null, 2);
  }
  $("setting").showModal();
}

async function set() {
  try {
    const body = { [$("set-when-kind").value]: $("set-when").value, to: { [$("set-to-kind").value]: $("set-to").value } };
    body.value = JSON.parse($("set-value").value || "null");
    if ($("set-timeout").value) body.timeout = $("set-timeout").value;
    const condition = $("set-if").value;
    await call("PUT", timerPath($("set-key").value) + (condition ? "?if=" + condition : ""), body);
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

function begin() {
  $("forget").hidden = !sessionStorage.getItem("token");
  pages = 1;
  refresh();
  live();
}

const on = (id, event, f) => $(id).addEventListener(event, (e) => { if (event === "submit") e.preventDefault(); f(e); });
let typing;
on("prefix", "input", () => { clearTimeout(typing); typing = setTimeout(() => { pages = 1; refresh(); }, 200); });
on("state", "change", () => { pages = 1; refresh(); });
on("search", "submit", refresh);
on("more", "click", () => { pages++; refresh(); });
on("new", "click", () => edit(null));
on("set", "submit", set);
on("set-cancel", "click", () => $("setting").close());
on("close", "click", () => $("details").close());
on("edit", "click", () => { $("details").close(); edit(shown); });
on("move", "submit", () => change("PATCH", "", moment($("move-when").value.trim())));
on("revive", "click", () => change("POST", "/revive"));
on("remove", "click", () => { if (confirm("Remove the timer " + shown.key + "?")) change("DELETE", "", undefined, true); });
on("forget", "click", () => { sessionStorage.removeItem("token"); rows.replaceChildren(); $("frame").removeAttribute("src"); begin(); });
on("asking", "cancel", (e) => e.preventDefault());
on("ask", "submit", () => { sessionStorage.setItem("token", $("token").value.trim()); $("token").value = ""; $("asking").close(); begin(); });

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select, dialog")) return;
  if (e.key === "/") { e.preventDefault(); $("prefix").focus(); }
  if (e.key === "n") { e.preventDefault(); edit(null); }
});
setInterval(() => { if (!document.hidden && !document.querySelector("dialog[open]")) refresh(); }, 5000);
begin();
