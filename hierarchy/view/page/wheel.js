// receive takes a snapshot, and returns the state of the wheel; before is null if it is the first
// one of a process.
function receive(s, before) {
  if (!before) forgetRates();
  beside(s);
  setClock(s, before);
  paintRings(s.circles);
  showCascades(before, s);
  showFigures(s);
  showLateness(s.lateness, s.recent_lateness);
  showWaited(s);
  showTables(s);
  wakeHands();
  return s.closed ? 'stopped' : behind ? 'behind' : 'live';
}

function onLive() { wakeHands(); }

byId('clock').hidden = false;
buildFigures();
