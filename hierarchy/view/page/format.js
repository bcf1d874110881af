// Errors are written to the root element, where a test or a user can read them.
const root = document.documentElement;
addEventListener('error', e => { root.dataset.error = e.message; });
addEventListener('unhandledrejection', e => { root.dataset.error = String(e.reason); });
document.addEventListener('securitypolicyviolation', e => { root.dataset.error = 'policy: ' + e.violatedDirective; });

const byId = id => document.getElementById(id);
const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');

// element appends a new node to parent, in the parent's namespace, with attributes and text.
function element(parent, name, attributes = {}, text) {
  const made = document.createElementNS(parent.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

// setText changes the text of a node only if it differs, because most figures stay the same.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// setAttribute sets an attribute only if it differs.
function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const count = n => number.format(n);
const timers = n => count(n) + (n === 1 ? ' timer' : ' timers');

// digits formats a number with that many significant digits, without trailing zeros.
function digits(x, places) {
  if (x >= 99.95) return count(x);
  return String(Number(x.toPrecision(places)));
}

function rate(x) {
  if (!(x >= 0)) return '–';
  return x >= 99.95 ? count(x) : x.toFixed(x >= 9.995 ? 0 : 1);
}

function percent(share) {
  if (share === 0) return '0 %';
  return share < 0.0001 ? '< 0.01 %' : Number((100 * share).toPrecision(2)) + ' %';
}

// Each unit is used from this many nanoseconds on.
const units = [
  [365.25 * 86400e9, 'years'], [86400e9, 'days'], [2 * 3600e9, 'h'], [120e9, 'min'],
  [1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [0, 'ns'],
];
const nanoseconds = { years: 365.25 * 86400e9, days: 86400e9, h: 3600e9, min: 60e9, s: 1e9, ms: 1e6, 'µs': 1e3, ns: 1 };

function duration(ns, places = 3) {
  const unit = units.find(([from]) => ns >= from)?.[1] ?? 'ns';
  return digits(ns / nanoseconds[unit], places) + '\u00a0' + unit;
}

// clockTime formats a time as hours, minutes and seconds, with days in front if there are any.
function clockTime(ns) {
  const two = n => String(Math.floor(n)).padStart(2, '0');
  const s = ns / 1e9, days = Math.floor(s / 86400);
  const time = [two(s / 3600 % 24), two(s / 60 % 60), two(s % 60)].join(':') + '.' + Math.floor(s * 10 % 10);
  return days ? `${count(days)} d ${time}` : time;
}

// waitsTooLong tells whether what is queued now will have begun only after more than a second, at
// the pace of the time from before to s. Executors that do not queue count no waiting.
function waitsTooLong(before, s, ns) {
  const begun = s.waited.count - before.waited.count;
  return ns >= 1e9 && s.waited.count > 0 && before.queued > 0 && s.queued > 0 && s.queued * ns > 1e9 * begun;
}

// spanName names the time that the figures of the last minute cover, which is shorter if the
// first snapshot was taken less than a minute ago.
function spanName(ns) {
  return ns > 55e9 ? 'last minute' : ns > 0 ? `last ${Math.max(1, Math.round(ns / 1e9))} s` : 'last minute';
}
