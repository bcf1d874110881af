// The index has a row for each wheel. In a narrow window a row becomes a card, in which
// each figure has a label.
const wheelsBody = byId('wheels').querySelector('tbody');
const rateWindow = 2e9; // rates are over the last two seconds, or two lists
const queuedColumn = 7;
const columns = [
  ['pending', w => count(w.pending)],
  ...[['fired', 'fired/s'], ['wakeups', 'wake-ups/s'], ['scheduled', 'set/s']].map(([field, name]) => [
    name, (w, before, ns) => before ? rate(Math.max(0, w[field] - before[field]) / ns * 1e9) : '–',
  ]),
  ...['p50', 'p99', 'max'].map(field => [
    'lateness, ' + field, ({ recent_lateness: late }) => late.count ? duration(late[field + '_ns']) : '–',
  ]),
  ...[['queued', 'queued'], ['running', 'running'], ['skipped', 'skipped runs'], ['panics', 'panics']].map(([field, name]) => [
    name, w => count(w[field]),
  ]),
];
let lines = [], samples = [];

// What the wheels can be sorted by, most first. Wheels that are equal stay in the order of names.
const sortBox = byId('sort');
const orders = {
  name: () => 0,
  active: (w, before) => before ? w.fired - before.fired + w.scheduled - before.scheduled + w.queued + w.running : 0,
  pending: w => w.pending, queued: w => w.queued, late: w => w.recent_lateness.p99_ns,
};

// sortLines sorts the rows, if their order has changed.
function sortLines(s, first) {
  const weight = s.wheels.map((w, i) => orders[sortBox.value](w, first && first.wheels[i]));
  const rows = lines.map((line, i) => [weight[i], line.row]).sort(([a], [b]) => b - a).map(([, row]) => row);
  if (rows.some((row, i) => wheelsBody.rows[i] !== row)) wheelsBody.append(...rows);
}
sortBox.addEventListener('change', () => { if (shown) sortLines(shown, samples.length > 1 ? samples[0] : null); });

// active tells whether a wheel has anything to show. In a narrow window others are only a name.
const active = (w, before) => w.pending + w.queued + w.running + w.panics > 0 || Boolean(before) && w.fired > before.fired;

// receive takes a list, and returns the state of the page; before is null if it is the first one
// of a process.
function receive(s, before) {
  const names = s.wheels.map(w => w.name);
  if (!before || lines.length !== names.length || lines.some((line, i) => line.name !== names[i])) buildLines(names);
  const first = firstSample(s);
  let late = false;
  s.wheels.forEach((w, i) => {
    const texts = columns.map(([, text]) => text(w, first && first.wheels[i], first && s.taken_ns - first.taken_ns));
    texts.forEach((text, column) => setText(lines[i].cells[column], text));
    const behind = Boolean(first) && waitsTooLong(first.wheels[i], w, s.taken_ns - first.taken_ns);
    late ||= behind;
    lines[i].cells.at(-1).classList.toggle('bad', w.panics > 0);
    lines[i].cells[queuedColumn].classList.toggle('bad', behind);
    lines[i].row.classList.toggle('idle', !active(w, first && first.wheels[i]));
    setText(lines[i].note, w.closed ? 'stopped' : '');
  });
  sortLines(s, first);
  setText(byId('span'), spanName(Math.max(0, ...s.wheels.map(w => w.recent_lateness.span_ns))));
  return late ? 'behind' : 'live';
}

function buildLines(names) {
  samples = [];
  wheelsBody.replaceChildren();
  lines = names.map(name => {
    const row = element(wheelsBody, 'tr', { role: 'row' });
    const head = element(row, 'th', { scope: 'row', role: 'rowheader' });
    element(head, 'a', { href: '?wheel=' + encodeURIComponent(name) }, name);
    const note = element(head, 'span', { class: 'note-of' });
    return { name, row, note, cells: columns.map(([label]) => element(row, 'td', { role: 'cell', 'data-label': label }, '–')) };
  });
  if (names.length === 0) element(element(wheelsBody, 'tr'), 'td', { colspan: 1 + columns.length }, 'no wheel is listed');
}

// firstSample returns the list from which rates are computed, or null if s is the first one.
function firstSample(s) {
  const window = Math.max(rateWindow, 1.5e6 * every);
  samples = samples.filter(old => s.taken_ns - old.taken_ns <= window);
  samples.push(s);
  return samples.length > 1 ? samples[0] : null;
}

function onLive() {}

byId('every').value = '1 s';
