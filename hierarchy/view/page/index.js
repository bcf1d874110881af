// The index has a row for each wheel. In a narrow window a row becomes a card, in which
// each figure has a label.
const wheelsBody = byId('wheels').querySelector('tbody');
const rateWindow = 2e9; // rates are over the last two seconds, or two lists
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

// receive takes a list; before is null if it is the first one of a process.
function receive(s, before) {
  const names = s.wheels.map(w => w.name);
  if (!before || lines.length !== names.length || lines.some((line, i) => line.name !== names[i])) buildLines(names);
  const first = firstSample(s);
  s.wheels.forEach((w, i) => {
    const texts = columns.map(([, text]) => text(w, first && first.wheels[i], first && s.taken_ns - first.taken_ns));
    texts.forEach((text, column) => setText(lines[i].cells[column], text));
    lines[i].cells.at(-1).classList.toggle('bad', w.panics > 0);
  });
  setText(byId('span'), spanName(Math.max(0, ...s.wheels.map(w => w.recent_lateness.span_ns))));
}

function buildLines(names) {
  samples = [];
  wheelsBody.replaceChildren();
  lines = names.map(name => {
    const row = element(wheelsBody, 'tr', { role: 'row' });
    const head = element(row, 'th', { scope: 'row', role: 'rowheader' });
    element(head, 'a', { href: '?wheel=' + encodeURIComponent(name) }, name);
    return { name, cells: columns.map(([label]) => element(row, 'td', { role: 'cell', 'data-label': label }, '–')) };
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
