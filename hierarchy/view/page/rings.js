// The circles are drawn finest innermost, each slot a piece of its ring. A strip
// at the top stays free for the width of the slots. Distances are in units of the
// drawing, angles in turns clockwise from the top.
const size = 1000, middle = size / 2, hub = 92;
const shades = 9; // of slots that hold timers, as in the style sheet
const eternity = 2 ** 63; // the end of time, in nanoseconds

const ringsNode = byId('rings'), tip = byId('tip');
let rings = []; // what is drawn of each circle
let lettering = 0, strip = 0; // how high their names are, and how wide the strip that they stand on

// fitLettering has names be legible however small the drawing is; then they are shorter,
// too. The strip is as wide as they need it. It returns whether anything is to be drawn anew.
const legible = 10.5; // pixels
function fitLettering(circles) {
  const pixel = size / (byId('dial').clientWidth || 780);
  const fitting = Math.min(34, Math.max(13.5, Math.round(legible * pixel)));
  if (fitting === lettering) return false;
  lettering = fitting;
  strip = Math.min(1.8 * hub, Math.max(60, 6 + Math.max(...circles.map(c => lengthOf(nameOf(c))))));
  return true;
}

const nameOf = c => duration(c.width_ns, lettering > 20 ? 2 : 3).replace(/(d|y)[a-z]+$/, '$1');

function lengthOf(name) {
  const probe = element(ringsNode, 'text', { class: 'name base', 'font-size': lettering }, name);
  const length = probe.getComputedTextLength();
  probe.remove();
  return length;
}

// Another size has all drawn anew.
new ResizeObserver(() => {
  if (shown && fitLettering(shown.circles)) {
    rings = [];
    paintRings(shown.circles);
  }
}).observe(byId('dial'));

// layOut gives each ring its place: the base circle is thicker, and set apart.
function layOut(circles) {
  const shares = circles.map(c => c.base ? 1.5 : 1);
  const gaps = circles.length - 1 + 2; // one more on either side of the base circle
  const unit = (middle - 6 - hub - gaps * 5) / shares.reduce((a, b) => a + b, 0);
  let inner = hub;
  return circles.map((c, k) => {
    inner += c.base && k > 0 ? 5 : 0;
    const outer = inner + unit * shares[k];
    const ring = { k, inner, outer, free: Math.asin(strip / 2 / inner) / Math.PI };
    // The outermost circle has slots after the end of time: they are never used.
    ring.slots = Math.max(1, Math.min(c.slots.length, Math.round(eternity / c.width_ns)));
    inner = outer + 5 + (c.base ? 5 : 0);
    return ring;
  });
}

// angle is where a slot, or a part of one, begins.
const angle = (ring, slot) => ring.free / 2 + slot / ring.slots * (1 - ring.free);
const at = (radius, turn) => [
  middle + radius * Math.sin(2 * Math.PI * turn), middle - radius * Math.cos(2 * Math.PI * turn),
];
const point = (radius, turn) => at(radius, turn).map(x => x.toFixed(2)).join(' ');

// piece is the outline of a ring between two angles.
function piece(inner, outer, from, to) {
  const large = to - from > 0.5 ? 1 : 0;
  return `M${point(inner, from)}A${inner} ${inner} 0 ${large} 1 ${point(inner, to)}` +
    `L${point(outer, to)}A${outer} ${outer} 0 ${large} 0 ${point(outer, from)}Z`;
}

const kind = (circles, k) => {
  const base = circles.findIndex(c => c.base);
  return k === base ? 'base' : k < base ? 'sub' : 'overflow';
};

// build draws what never changes; circles of another shape are drawn anew.
function buildRings(circles) {
  ringsNode.replaceChildren();
  ringsNode.setAttribute('viewBox', `0 0 ${size} ${size}`);
  rings = layOut(circles);
  for (const ring of rings) {
    const c = circles[ring.k];
    ring.kind = kind(circles, ring.k);
    ring.node = element(ringsNode, 'g', { class: 'ring ' + ring.kind });
    const hair = 1.1 / ring.inner / 2 / Math.PI; // half of the gap between slots
    ring.cells = Array.from({ length: ring.slots }, (_, slot) => element(ring.node, 'path', {
      class: 'slot h0', 'data-k': ring.k, 'data-slot': slot,
      d: piece(ring.inner, ring.outer, angle(ring, slot) + hair, angle(ring, slot + 1) - hair),
    }));
    ring.shade = new Array(ring.slots).fill(0);
  }
}

const differ = circles => rings.length !== circles.length ||
  rings.some((ring, k) => ring.width !== circles[k].width_ns || ring.kind !== kind(circles, k));

// paintRings shades slots by how many timers they hold, on a scale of logarithms
// up to a power of ten, which stays the same for long: it follows a peak at once,
// and comes down when many snapshots had none.
const patience = 240;
let top10 = 0, lower = 0;
function paintRings(circles) {
  if (differ(circles)) {
    lettering = 0;
    fitLettering(circles);
    buildRings(circles);
    buildHands(circles);
    rings.forEach((ring, k) => { ring.width = circles[k].width_ns; });
  }
  scaleTo(Math.max(...circles.flatMap(c => c.slots)));
  for (const ring of rings) {
    const slots = circles[ring.k].slots;
    ring.cells.forEach((cell, slot) => {
      const shade = shadeOf(slots[slot]);
      cell.classList.remove('gone');
      if (shade === ring.shade[slot]) return;
      cell.classList.replace('h' + ring.shade[slot], 'h' + shade);
      ring.shade[slot] = shade;
    });
  }
}

const shadeOf = n => n === 0 ? 0 : Math.min(shades, 1 + Math.floor(Math.log10(n) / top10 * (shades - 1) + 1e-9));

// scaleTo draws the legend of shades: one colour for each, and its powers of ten.
function scaleTo(most) {
  const needed = Math.max(2, Math.ceil(Math.log10(Math.max(1, most))));
  lower = needed < top10 ? lower + 1 : 0;
  if (needed === top10 || needed < top10 && lower < patience) return;
  top10 = needed;
  lower = 0;
  const list = byId('scale');
  list.replaceChildren('1');
  const bar = element(ringsNode, 'svg', { viewBox: `0 0 ${shades * 14} 14`, 'aria-hidden': 'true' });
  for (let i = 0; i < shades; i++) element(bar, 'rect', { class: 'h' + (i + 1), x: i * 14, width: 13, height: 14, rx: 2 });
  list.append(bar, count(10 ** top10) + ' timers in a slot');
}

// dueIn tells when the hand is at a slot. No timer in it is due before; one that was
// moved later since may be due after. Slots that the hand has passed are the next turn's.
function dueIn(circles, k, slot, elapsed) {
  const c = circles[k], turn = c.width_ns * 64, into = elapsed % turn;
  let from = slot * c.width_ns - into;
  if (from + c.width_ns <= 0) from += turn;
  return [Math.max(0, from), from + c.width_ns];
}

function describe(circles, k, slot, elapsed) {
  const n = circles[k].slots[slot];
  const [from, to] = dueIn(circles, k, slot, elapsed);
  const name = { sub: 'a sub-circle', base: 'the base circle', overflow: 'an overflow circle' }[rings[k].kind];
  return `${timers(n)}\nslot ${slot} of circle ${k}, ${name}` +
    (n ? `\nits turn in ${duration(from)} to ${duration(to)}` : '') + (slot === circles[k].hand ? '\nunder the hand' : '');
}

// showTip tells of the slot under the pointer.
byId('dial').addEventListener('pointermove', e => {
  const { k, slot } = e.target.dataset;
  tip.hidden = slot === undefined || !shown;
  if (tip.hidden) return;
  tip.textContent = describe(shown.circles, Number(k), Number(slot), clockNow());
  const box = byId('dial').getBoundingClientRect();
  const x = e.clientX - box.left, y = e.clientY - box.top;
  tip.style.left = Math.min(x + 14, box.width - tip.offsetWidth) + 'px';
  tip.style.top = (y > box.height / 2 ? y - tip.offsetHeight - 10 : y + 18) + 'px';
});
byId('dial').addEventListener('pointerleave', () => { tip.hidden = true; });
