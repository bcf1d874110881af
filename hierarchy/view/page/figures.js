// Counters and rates. A rate is over the last two seconds, or two snapshots if these are
// further apart. Its line shows at most the last minute.
const rateWindow = 2e9, shortest = 10e9, longest = 60e9, most = 600; // points of a line
let samples = [], history = [];
let behind = false; // callbacks wait too long

const cells = {};

function buildFigures() {
  const list = byId('counters');
  for (const [field, name] of counters) {
    const row = element(list, 'div', { class: field });
    const dt = element(row, 'dt');
    if (fates.includes(field)) element(dt, 'i', { class: 'f-' + field });
    dt.append(name);
    cells[field] = element(row, 'dd', { id: 'count-' + field }, '–');
  }
  for (const field of fates) element(byId('fates'), 'i', { class: 'f-' + field });
  for (const [field, name] of rated) {
    const row = element(byId('rates'), 'div');
    element(row, 'dt', {}, name);
    element(row, 'dd', { id: 'rate-' + field }, '–');
    const line = element(ringsNode, 'svg', { class: 'spark-line', viewBox: '0 0 100 24', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
    element(line, 'path', { class: 'under' });
    element(line, 'path');
    byId('rate-' + field).after(line);
  }
}

function showFigures(s) {
  setText(byId('hub'), count(s.pending));
  for (const [field] of counters) setText(cells[field], count(s[field]));
  for (const field of alarming) cells[field].parentNode.classList.toggle('bad', s[field] > 0);
  [...byId('fates').children].forEach((part, i) => {
    part.style.flexGrow = whole(s) ? s[fates[i]] / whole(s) : 0;
    part.hidden = !s[fates[i]];
  });
  showRates(s);
  cells.queued?.parentNode.classList.toggle('bad', behind);
}

function showRates(s) {
  const window = Math.max(rateWindow, 1.5e6 * every);
  samples = samples.filter(old => s.taken_ns - old.taken_ns <= window && old.taken_ns < s.taken_ns);
  const first = samples[0];
  samples.push(s);
  behind = Boolean(first) && waitsTooLong(first, s, s.taken_ns - first.taken_ns);
  if (!first) return;
  const seconds = (s.taken_ns - first.taken_ns) / 1e9;
  const now = { at: s.taken_ns };
  for (const [field] of rated) now[field] = Math.max(0, s[field] - first[field]) / seconds;
  history = history.filter(h => s.taken_ns - h.at <= longest && h.at < s.taken_ns).slice(-most);
  history.push(now);
  for (const [field] of rated) {
    const node = byId('rate-' + field);
    setText(node, rate(now[field]));
    drawLine(node.nextElementSibling.children, field, s.taken_ns);
  }
}

function drawLine([under, line], field, now) {
  if (history.every(h => h[field] === 0)) { // so that an idle page is not drawn again and again
    setAttribute(line, 'd', history.length > 1 ? 'M0 23L100 23' : '');
    setAttribute(under, 'd', '');
    return;
  }
  const high = Math.max(1, ...history.map(h => h[field]));
  const span = Math.max(shortest, now - history[0].at);
  const points = history.map(h => `${(100 - 100 * (now - h.at) / span).toFixed(2)} ${(23 - 22 * h[field] / high).toFixed(2)}`);
  if (points.length < 2) points.length = 0;
  line.setAttribute('d', points.length ? 'M' + points.join('L') : '');
  under.setAttribute('d', points.length ? `M${points[0].split(' ')[0]} 24L${points.join('L')}L100 24Z` : '');
}

// forgetRates clears the rates and lines, when another process serves the page.
function forgetRates() {
  samples = [];
  history = [];
}
