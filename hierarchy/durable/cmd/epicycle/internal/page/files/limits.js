// The part of the page that shows what is paused and limited, and lets admins change it.

const $ = (id) => document.getElementById(id);

// A browser takes dots alone for steps in the path: such a name can't be in one.
const path = ({ kind, name }) => `v1/limits/${kind}/${encodeURIComponent(name)}`;

const words = (limit) => [
  limit.paused && "paused", limit.rate && `${limit.rate} a second`, limit.at_once && `${limit.at_once} at once`,
].filter(Boolean).join(", ");

export class Limits {
  // call sends a request, and cell adds a cell to a row.
  constructor(call, cell) {
    this.call = call;
    this.cell = cell;
    $("limit").addEventListener("submit", (e) => { e.preventDefault(); this.limit(); });
    $("limit-pause").addEventListener("click", () => { if ($("limit").reportValidity()) this.change(this.named(), { paused: true }); });
  }

  // begin shows the limits to whoever may see them.
  begin(me) {
    this.admin = me.role === "admin";
    $("limit").hidden = !this.admin;
    return this.refresh();
  }

  clear() {
    $("limits-rows").replaceChildren();
    $("limits-status").textContent = "";
    $("limit").hidden = true;
  }

  async refresh() {
    const at = document.activeElement?.dataset?.limit;
    try {
      const { limits } = await this.call("GET", "v1/limits");
      $("limits-rows").replaceChildren(...limits.map((limit) => this.row(limit)));
      this.say(limits.length ? "" : "Nothing is paused or limited.");
    } catch (error) {
      this.say(error.message);
    }
    if (at) ([...$("limits-rows").querySelectorAll("button")].find((button) => button.dataset.limit === at) || $("limit-kind")).focus();
  }

  say(text) {
    if ($("limits-status").textContent !== text) $("limits-status").textContent = text; // which is read out when it changes
  }

  row(limit) {
    const row = document.createElement("tr");
    this.cell(row, "Of", limit.kind);
    this.cell(row, "Name", limit.name);
    this.cell(row, "Limit", words(limit));
    this.cell(row, "Waiting", String(limit.waiting));
    const box = this.cell(row, "Change", "");
    if (!this.admin) return row;
    this.button(box, limit, limit.paused ? "Resume" : "Pause", () => this.change(limit, { paused: !limit.paused }));
    this.button(box, limit, "Remove", () => this.change(limit));
    return row;
  }

  button(box, limit, text, f) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-label", `${text} the limit of ${limit.kind} ${limit.name}`);
    button.dataset.limit = `${limit.kind} ${limit.name} ${text === "Remove"}`;
    button.addEventListener("click", f);
    box.append(button, " ");
  }

  named() {
    return { kind: $("limit-kind").value, name: $("limit-name").value };
  }

  // limit sets what the form has: an empty field leaves its limit as it is.
  limit() {
    const body = {};
    if ($("limit-rate").value) body.rate = Number($("limit-rate").value);
    if ($("limit-at-once").value) body.at_once = Number($("limit-at-once").value);
    this.change(this.named(), body);
  }

  // change changes a limit, or removes it if there is no body.
  async change(limit, body) {
    try {
      await this.call(body ? "PATCH" : "DELETE", path(limit), body);
      $("limit").reset();
      await this.refresh();
    } catch (error) {
      this.say(error.message);
    }
  }
}
