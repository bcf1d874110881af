// The finest circle is drawn innermost, and each slot is a piece of its ring. A strip at the
// top stays free for the labels, which are the widths of the slots. Distances are in units
// of the drawing, angles in turns clockwise from the top.
const size = 1000, middle = size / 2, hub = 92;
const shades = 9; // of slots that hold timers, as in the style sheet
const eternity = 2 ** 63; // the end of time, in nanoseconds

const ringsNode = byId('rings'), tip = byId('tip');
let rings = []; // one for each circle
let lettering = 0, strip = 0; // font size of the circles' names, and width of the strip they are on

// fitLettering chooses a font size at which names are legible in a drawing of this size, and
// the width of the strip. Larger names are also shorter. It returns whether the drawing must
// be redrawn.
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

// When the size changes, everything is redrawn.
new ResizeObserver(() => {
  if (shown && fitLettering(shown.circles)) {
    rings = [];
    paintRings(shown.circles);
  }
}).observe(byId('dial'));

// layOut returns the rings with their radii. The base circle is thicker, with wider gaps.
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

// angle returns the angle of a slot, which may be a fraction.
const angle = (ring, slot) => ring.free / 2 + slot / ring.slots * (1 - ring.free);
const at = (radius, turn) => [
  middle + radius * Math.sin(2 * Math.PI * turn), middle - radius * Math.cos(2 * Math.PI * turn),
];
const point = (radius, turn) => at(radius, turn).map(x => x.toFixed(2)).join(' ');

// piece returns the outline of a piece of a ring between two angles.
function piece(inner, outer, from, to) {
  const large = to - from > 0.5 ? 1 : 0;
  return `M${point(inner, from)}A${inner} ${inner} 0 ${large} 1 ${point(inner, to)}` +
    `L${point(outer, to)}A${outer} ${outer} 0 ${large} 0 ${point(outer, from)}Z`;
}

const kind = (circles, k) => {
  const base = circles.findIndex(c => c.base);
  return k === base ? 'base' : k < base ? 'sub' : 'overflow';
};

// buildRings draws the slots. They are redrawn only if the circles or the size change.
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

// paintRings shades slots by the number of their timers, on a logarithmic scale up to a power
// of ten. The scale rises at once with a peak, and falls only after many snapshots without
// one.
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
      if (ring.gone) cell.classList.remove('gone');
      if (shade === ring.shade[slot]) return;
      cell.classList.replace('h' + ring.shade[slot], 'h' + shade);
      ring.shade[slot] = shade;
    });
    ring.gone = false;
  }
}

const shadeOf = n => n === 0 ? 0 : Math.min(shades, 1 + Math.floor(Math.log10(n) / top10 * (shades - 1) + 1e-9));

// scaleTo sets the scale and draws its legend: the shades from 1 to a power of ten.
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

// dueIn returns when the hand will be at a slot. No timer in the slot is due before that; a
// timer that was moved later may be due after it. Slots that the hand has passed belong to
// the next turn.
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
    (n ? `\nunder the hand in ${duration(from)} to ${duration(to)}` : '') + (slot === circles[k].hand ? '\nunder the hand' : '');
}

// A tip describes the slot under the pointer.
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
