// Between snapshots the hands move with the wheel's clock, if it runs as fast as ours. On a
// mock clock they stay where the last snapshot has them.
const handsNode = byId('hands'), elapsedNode = byId('elapsed');
const tooFast = 500e6; // a hand is shown as a blur if its turn is shorter than this
const tooSlow = 2 * 3600e9; // a hand seems to stand still if its turn is longer than this

// The wheel's clock as seen from performance.now(): its lead, in nanoseconds.
const wheelClock = { elapsed: 0, lead: 0, steady: false, received: 0 };

function setClock(snapshot, before) {
  const here = performance.now() * 1e6, lead = snapshot.elapsed_ns - here;
  const pace = before && (snapshot.elapsed_ns - before.elapsed_ns) / (snapshot.taken_ns - before.taken_ns);
  const steady = pace > 0.5 && pace < 1.5;
  // Varying network delays must not make the hands shake.
  const near = wheelClock.steady && Math.abs(lead - wheelClock.lead) < 100e6;
  wheelClock.lead = near ? wheelClock.lead + (lead - wheelClock.lead) / 8 : lead;
  Object.assign(wheelClock, { elapsed: snapshot.elapsed_ns, steady, received: here });
}

// clockNow estimates the time of the wheel's clock, at most one and a half intervals and
// half a second after the last snapshot.
function clockNow() {
  if (!wheelClock.steady || reducedMotion.matches || !receiving()) return wheelClock.elapsed;
  const here = performance.now() * 1e6;
  return Math.min(here, wheelClock.received + every * 1.5e6 + 500e6) + wheelClock.lead;
}

// buildHands draws, from the bottom up: the trails of the hands, the strip, which the trails
// must not hide, and the hands.
function buildHands(circles) {
  handsNode.replaceChildren();
  handsNode.setAttribute('viewBox', `0 0 ${size} ${size}`);
  for (const ring of rings) {
    ring.passed = -1;
    ring.rotate = '';
    ring.hand = [];
    if (circles[ring.k].width_ns * ring.slots < tooFast) {
      element(handsNode, 'circle', { class: 'blur', cx: middle, cy: middle, r: (ring.inner + ring.outer) / 2 });
    } else {
      ring.hand.push(trail(ring, circles[ring.k]));
    }
  }
  element(handsNode, 'rect', { class: 'strip', x: middle - strip / 2, y: -4, width: strip, height: middle - hub + 4 });
  for (const ring of rings) {
    nameRing(ring, circles[ring.k]);
    if (ring.hand.length) ring.hand.push(hand(ring));
  }
}

// trail shows in which direction a hand moves, unless it is too slow to see.
function trail(ring, c) {
  const group = element(handsNode, 'g', { class: 'trail' });
  for (const length of c.width_ns * 64 < tooSlow ? [1.2, 2.4, 3.6] : []) {
    element(group, 'path', { d: piece(ring.inner, ring.outer, -length / 64 * (1 - ring.free), 0) });
  }
  return group;
}

function hand(ring) {
  const group = element(handsNode, 'g', { class: 'hand' });
  element(group, 'line', { x1: middle, x2: middle, y1: middle - ring.inner + 2, y2: middle - ring.outer - 3 });
  element(group, 'circle', { cx: middle, cy: middle - ring.outer - 2, r: 4.5 });
  return group;
}

function nameRing(ring, c) {
  const base = ring.kind === 'base';
  for (const radius of base ? [ring.inner - 5, ring.outer + 5] : []) {
    element(handsNode, 'circle', { class: 'edge', cx: middle, cy: middle, r: radius });
  }
  element(handsNode, 'text', {
    class: base ? 'name base' : 'name', x: middle, y: middle - (ring.inner + ring.outer) / 2, 'font-size': lettering,
  }, nameOf(c));
}

// moveHands moves the hands to the time now, and fades the slots that they pass before the
// next snapshot shows that these are empty.
function moveHands(now) {
  for (const ring of rings) {
    if (!ring.hand.length) continue;
    const turn = ring.width * 64, slot = now % turn / ring.width;
    const rotate = `rotate(${(360 * angle(ring, slot)).toFixed(1)} ${middle} ${middle})`;
    if (rotate !== ring.rotate) for (const part of ring.hand) part.setAttribute('transform', rotate);
    ring.rotate = rotate;
    const over = Math.floor(slot);
    if (over === ring.passed) continue;
    const behind = ring.passed;
    ring.passed = over;
    if (behind >= 0 && (over - behind + 64) % 64 < 16) {
      for (let s = behind; s !== over; s = (s + 1) % 64) {
        if (ring.shade[s]) ring.cells[s].classList.add('gone'), ring.gone = true;
      }
    }
  }
  setText(elapsedNode, clockText(now));
}

// The hands of a wheel with timers move between snapshots, some times a second. Those of an idle
// one move with each snapshot, as nothing happens that they could show: to draw them costs more than
// all else on the page.
const step = 50; // milliseconds
let frame = 0, nextStep = 0;
function animate() {
  frame = 0;
  moveHands(clockNow());
  clearTimeout(nextStep);
  if (receiving() && wheelClock.steady && !reducedMotion.matches && shown?.pending > 0) nextStep = setTimeout(wakeHands, step);
}
function wakeHands() {
  if (!frame) frame = requestAnimationFrame(animate);
}
