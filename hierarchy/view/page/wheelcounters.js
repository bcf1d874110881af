// What the page of a wheel counts: rates, counters, and those counters that add up to a whole.
const rated = [['fired', 'fired'], ['wakeups', 'wake-ups'], ['scheduled', 'set']];

// The first seven are one column: five states of timers, their sum, and the moves.
const counters = [
  ['fired', 'fired'], ['pending', 'pending'], ['stopped', 'stopped'], ['drained', 'drained'], ['dropped', 'dropped'],
  ['scheduled', 'scheduled'], ['moved', 'moved'], ['cascaded', 'cascaded'],
  ['wakeups', 'wake-ups'], ['queued', 'queued'], ['running', 'running'], ['skipped', 'skipped runs'], ['panics', 'panics'],
];
const fates = ['fired', 'pending', 'stopped', 'drained', 'dropped'];
const whole = s => s.scheduled;
const alarming = ['panics'];
const clockText = clockTime;
function beside() {}
