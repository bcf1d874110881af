// The histogram of lateness, on a logarithmic axis: each bar reaches from half of
// what its bucket can hold to the whole.
const lateNode = byId('late'), plot = { left: 6, right: 414, top: 16, bottom: 112 };

function showLateness(late) {
  for (const field of ['p50', 'p99', 'max', 'mean']) {
    say(byId('late-' + field), late.count ? duration(late[field + '_ns']) : '–');
  }
  lateNode.replaceChildren();
  if (late.count === 0) {
    element(lateNode, 'text', { x: 210, y: 66 }, 'nothing has fired yet');
    return;
  }
  drawLateness(late);
  if (byId('late-table').open) fillLateTable(late);
}

// from is where a bucket begins: that of zero alone is put beside that of one.
const from = bucket => Math.max(0.5, (bucket.up_to_ns + 1) / 2);
const upTo = bucket => Math.max(1, bucket.up_to_ns + 1);

function drawLateness(late) {
  const { left, right, top, bottom } = plot;
  const low = Math.log10(from(late.buckets[0])), high = Math.log10(upTo(late.buckets.at(-1)));
  const x = ns => left + (right - left) * Math.min(1, Math.max(0, (Math.log10(Math.max(ns, 0.5)) - low) / (high - low)));
  const tallest = Math.max(...late.buckets.map(b => b.count));
  for (const b of late.buckets) {
    const height = Math.max(2, (bottom - top) * b.count / tallest);
    const bar = element(lateNode, 'rect', {
      class: 'bar', x: x(from(b)) + 1, y: bottom - height, height, rx: 1.5,
      width: Math.max(1, x(upTo(b)) - x(from(b)) - 2),
    });
    element(bar, 'title', {}, `${timers(b.count)} late by ${duration(from(b))} to ${duration(upTo(b))}`);
  }
  element(lateNode, 'line', { class: 'axis', x1: left, x2: right, y1: bottom + 0.5, y2: bottom + 0.5 });
  drawAxis(x, low, high);
  drawMarks(late, x);
}

function drawAxis(x, low, high) {
  const step = Math.ceil((high - low) / 7);
  for (let power = Math.ceil(low); power <= high; power += step) {
    const label = duration(10 ** power);
    const at = Math.min(plot.right - 14, Math.max(plot.left + 14, x(10 ** power)));
    element(lateNode, 'line', { class: 'axis', x1: x(10 ** power), x2: x(10 ** power), y1: plot.bottom, y2: plot.bottom + 4 });
    element(lateNode, 'text', { x: at, y: plot.bottom + 17 }, label);
  }
}

// drawMarks names p50 and p99 above their lines, unless the names would touch.
function drawMarks(late, x) {
  let last = -Infinity;
  for (const field of ['p50', 'p99']) {
    const at = x(late[field + '_ns']);
    element(lateNode, 'line', { class: 'mark-line', x1: at, x2: at, y1: plot.top - 2, y2: plot.bottom });
    if (at - last > 28) element(lateNode, 'text', { class: 'mark-name', x: Math.min(plot.right - 10, Math.max(plot.left + 10, at)), y: plot.top - 5 }, field);
    last = at;
  }
}

function fillLateTable(late) {
  const body = byId('late-table').querySelector('tbody');
  body.replaceChildren();
  for (const b of late.buckets) {
    const row = element(body, 'tr');
    const cells = [b.up_to_ns ? duration(Math.floor(b.up_to_ns / 2)) : '–', duration(b.up_to_ns), count(b.count), percent(b.count / late.count)];
    cells.forEach(text => element(row, 'td', {}, text));
  }
}
byId('late-table').addEventListener('toggle', () => { if (shown) fillLateTable(shown.lateness); });
