// Two histograms of lateness on one logarithmic axis. Each bar extends from half of its
// bucket's bound to the bound. The bars of the last minute are drawn in front of those since
// the start. Each histogram has its own scale, because the last minute has far fewer timers.
const lateNode = byId('late'), plot = { left: 6, right: 414, top: 16, bottom: 112, width: 420 };

let drawn = ''; // the histograms of the drawing

function showLateness(all, recent) {
  for (const field of ['p50', 'p99', 'p999', 'max']) {
    setText(byId('late-' + field), all.count ? duration(all[field + '_ns']) : '–');
    setText(byId('recent-' + field), recent.count ? duration(recent[field + '_ns']) : '–');
  }
  const span = spanName(recent.span_ns);
  setText(byId('recent-name'), span);
  setText(byId('recent-column'), span);
  const buckets = JSON.stringify([all.buckets, recent.buckets, recent.count && span, lateNode.clientWidth]);
  if (buckets === drawn) return; // an idle page draws nothing
  drawn = buckets;
  lateNode.replaceChildren();
  if (all.count === 0) {
    element(lateNode, 'text', { x: 210, y: 66 }, 'nothing has fired yet');
    return;
  }
  drawLateness(all, recent);
  if (byId('late-table').open) fillLateTable(all, recent);
}

// showWaited shows how long callbacks waited in the executor, if any did.
function showWaited({ waited, recent_waited: recent }) {
  byId('waited').hidden = waited.count === 0;
  for (const field of ['p50', 'p99', 'p999', 'max']) {
    setText(byId('waited-' + field), duration(waited[field + '_ns']));
    setText(byId('waiting-' + field), recent.count ? duration(recent[field + '_ns']) : '–');
  }
  setText(byId('waiting-name'), 'waited, ' + spanName(recent.span_ns));
}

// from returns where a bucket begins. The bucket of zero is drawn next to that of one.
const from = bucket => Math.max(0.5, (bucket.up_to_ns + 1) / 2);
const upTo = bucket => Math.max(1, bucket.up_to_ns + 1);

function drawLateness(all, recent) {
  const { left, right, bottom } = plot;
  const low = Math.log10(from(all.buckets[0])), high = Math.log10(upTo(all.buckets.at(-1)));
  const x = ns => left + (right - left) * Math.min(1, Math.max(0, (Math.log10(Math.max(ns, 0.5)) - low) / (high - low)));
  drawBars(all.buckets, x, 'bar', 1, 'since the start');
  drawBars(recent.buckets, x, 'recent-bar', 3, spanName(recent.span_ns));
  element(lateNode, 'line', { class: 'axis', x1: left, x2: right, y1: bottom + 0.5, y2: bottom + 0.5 });
  drawAxis(x, low, high);
  drawMarks(recent.count ? recent : all, x);
}

function drawBars(buckets, x, name, gap, when) {
  const tallest = Math.max(...buckets.map(b => b.count));
  for (const b of buckets) {
    const height = Math.max(2, (plot.bottom - plot.top) * b.count / tallest);
    const width = x(upTo(b)) - x(from(b)), aside = Math.min(gap, width / 4);
    const bar = element(lateNode, 'rect', {
      class: name, x: x(from(b)) + aside, y: plot.bottom - height, height, rx: 1.5, width: Math.max(1, width - 2 * aside),
    });
    element(bar, 'title', {}, `${when}: ${timers(b.count)} late by ${duration(from(b))} to ${duration(upTo(b))}`);
  }
}

// drawAxis labels powers of ten, except where a label would touch the one before.
function drawAxis(x, low, high) {
  const step = Math.max(1, Math.ceil((high - low) / 7));
  let free = 0;
  for (let power = Math.ceil(low); power <= high; power += step) {
    const at = x(10 ** power);
    element(lateNode, 'line', { class: 'axis', x1: at, x2: at, y1: plot.bottom, y2: plot.bottom + 4 });
    free = letter(at, plot.bottom + 17, duration(10 ** power), 'power', free);
  }
}

// drawMarks draws lines at p50 and p99, with labels above.
function drawMarks(late, x) {
  let free = 0;
  for (const field of ['p50', 'p99']) {
    const at = x(late[field + '_ns']);
    element(lateNode, 'line', { class: 'mark-line', x1: at, x2: at, y1: plot.top - 2, y2: plot.bottom });
    free = letter(at, plot.top - 5, field, 'mark-name', free);
  }
}

// letter writes a word centred at x, or as near to x as the edges of the drawing allow,
// unless it would begin before free. It returns where the next word may begin.
function letter(x, y, word, name, free) {
  const node = element(lateNode, 'text', { class: name, x, y }, word);
  const half = node.getComputedTextLength() / 2;
  const middle = Math.min(plot.width - 1 - half, Math.max(1 + half, x));
  if (middle - half < free) {
    node.remove();
    return free;
  }
  node.setAttribute('x', middle.toFixed(2));
  return middle + half + 5;
}

function fillLateTable(all, recent) {
  const body = byId('late-table').querySelector('tbody');
  const lately = new Map(recent.buckets.map(b => [b.up_to_ns, b.count]));
  body.replaceChildren();
  for (const b of all.buckets) {
    const row = element(body, 'tr');
    const cells = [
      b.up_to_ns ? duration(Math.floor(b.up_to_ns / 2)) : '–', duration(b.up_to_ns),
      count(lately.get(b.up_to_ns) ?? 0), count(b.count), percent(b.count / all.count),
    ];
    cells.forEach(text => element(row, 'td', {}, text));
  }
}
byId('late-table').addEventListener('toggle', () => { if (shown) fillLateTable(shown.lateness, shown.recent_lateness); });
