// A cascade shows as a difference between two snapshots: slots that the hand has reached
// have fewer timers, and Cascaded has increased. Such a slot glows, and sparks fly from it
// to the slots of the next finer circle that have more timers.
const glowTime = 1400; // milliseconds, as in the style sheet
const maxSparks = 26; // for one slot
const maxSlots = 8; // that a hand may pass between two snapshots; more are too fast to see

function showCascades(before, after) {
  if (!before || after.cascaded <= before.cascaded || rings.length !== before.circles.length) return;
  const went = after.elapsed_ns - before.elapsed_ns;
  for (const ring of rings.slice(1)) {
    if (went > maxSlots * ring.width) continue;
    const was = before.circles[ring.k], is = after.circles[ring.k];
    for (const slot of between(was.hand, is.hand)) {
      const lost = was.slots[slot] - is.slots[slot];
      if (lost > 0) showCascade(ring, slot, lost, gains(ring.k - 1, before, after));
    }
  }
}

// between returns the slots that the hand has reached.
const between = (from, to) => Array.from({ length: (to - from + 64) % 64 }, (_, i) => (from + 1 + i) % 64);

// gains returns the slots of circle k that have more timers than before, or, if there are
// none because the circle has turned too often, all slots that hold timers.
function gains(k, before, after) {
  const was = before.circles[k].slots, is = after.circles[k].slots;
  const filled = rings[k].cells.map((_, slot) => slot).filter(slot => is[slot] > 0);
  const more = filled.filter(slot => is[slot] > was[slot]);
  return more.length ? more : filled;
}

function showCascade(ring, slot, lost, targets) {
  const cell = ring.cells[slot];
  cell.classList.remove('fall');
  requestAnimationFrame(() => cell.classList.add('fall')); // restarts the animation
  setTimeout(() => cell.classList.remove('fall'), glowTime);
  if (reducedMotion.matches || targets.length === 0) return;
  const n = Math.min(maxSparks, lost, 6 + Math.floor(4 * Math.log2(lost)));
  for (let i = 0; i < n; i++) {
    const target = targets[Math.floor((i + Math.random()) * targets.length / n)];
    fly(ring, angle(ring, slot + 0.5), rings[ring.k - 1], target, i * 8);
  }
}

// fly moves a spark to another ring, first inwards and then around.
function fly(ring, from, finer, slot, delay) {
  const start = ring.inner, end = (finer.inner + finer.outer) / 2;
  const way = turnTo(from, angle(finer, slot + Math.random()));
  const steps = [];
  for (let t = 0; t <= 1; t += 0.125) {
    const down = 1 - (1 - t) ** 3, around = t * t * (3 - 2 * t);
    const [x, y] = at(start + (end - start) * down, from + way * around);
    steps.push({ transform: `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`, opacity: t < 0.75 ? 1 : 4 * (1 - t) });
  }
  const spark = element(handsNode, 'circle', { class: 'spark', r: 4 });
  const flight = spark.animate(steps, { duration: 550, delay, fill: 'both', easing: 'linear' });
  flight.onfinish = () => spark.remove();
}

// turnTo returns the shorter way around from one angle to another.
function turnTo(from, to) {
  const way = (to - from) % 1;
  return way > 0.5 ? way - 1 : way < -0.5 ? way + 1 : way;
}
