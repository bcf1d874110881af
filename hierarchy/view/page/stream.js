// Snapshots come as server-sent events. The browser reconnects when the connection breaks.
// This script reconnects when the browser gives up, or when no event has come for too long.
const statusNode = byId('status'), pauseButton = byId('pause'), everyBox = byId('every');
const words = { connecting: 'connecting', live: 'live', behind: 'callbacks wait too long', stopped: 'the wheel is stopped', paused: 'paused', lost: 'connection lost – trying again' };
let shown = null; // the snapshot on the page
let health = 'live'; // what receive has said of it
let every = 0; // milliseconds
let source = null, watchdog = 0, again = 0, paused = false;

function setState(state) {
  if (root.dataset.state === state) return;
  root.dataset.state = state;
  setText(statusNode, words[state]);
  if (receiving()) onLive();
}

// receiving tells whether the figures on the page are those of now.
const receiving = () => ['live', 'behind', 'stopped'].includes(root.dataset.state);

// asked is the wheel of an index that the page shows, from the page's query.
const asked = new URLSearchParams(location.search).get('wheel');
const about = asked === null ? '' : '&wheel=' + encodeURIComponent(asked);

function connect() {
  disconnect();
  if (paused || document.hidden) return;
  source = new EventSource(`events?every=${every}ms${about}`);
  source.onmessage = e => show(JSON.parse(e.data));
  source.onerror = lose;
  watch();
}

function disconnect() {
  clearTimeout(watchdog);
  clearTimeout(again);
  source?.close();
  source = null;
}

// lose shows that the connection is lost, so the figures on the page are old.
function lose() {
  setState('lost');
  if (source?.readyState === EventSource.CLOSED) {
    clearTimeout(again);
    again = setTimeout(connect, 2000);
  }
}

// watch treats a long silence as a lost connection, because the browser does not notice when
// a connection is cut without being closed.
function watch() {
  clearTimeout(watchdog);
  watchdog = setTimeout(() => {
    setState('lost');
    connect();
  }, 3 * every + 3000);
}

function show(s) {
  watch();
  if (shown && s.taken_ns === shown.taken_ns) return setState(health); // a shared snapshot, sent again
  const before = shown && s.taken_ns > shown.taken_ns ? shown : null; // a new process begins at 0
  shown = s;
  health = receive(s, before);
  setState(health);
  root.dataset.events = Number(root.dataset.events ?? 0) + 1;
}

pauseButton.addEventListener('click', () => {
  paused = !paused;
  pauseButton.textContent = paused ? 'Resume' : 'Pause';
  if (paused) {
    disconnect();
    setState('paused');
  } else {
    setState('connecting');
    connect();
  }
});

function readEvery() {
  const [n, unit] = everyBox.value.split(' ');
  every = unit === 's' ? n * 1000 : Number(n);
}

everyBox.addEventListener('change', () => {
  readEvery();
  connect();
});

// A hidden page requests nothing.
document.addEventListener('visibilitychange', () => {
  if (paused) return;
  if (document.hidden) disconnect(); else connect();
});

readEvery();
setState('connecting');
connect();
