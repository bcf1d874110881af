// The panel of keys asks for them while it is open and the page is neither paused nor hidden.
const keysPanel = byId('keys'), keysFind = byId('keys-find'), keysNote = byId('keys-note');
const keysState = byId('keys-state');
const keysBody = byId('keys-table').querySelector('tbody');
const keysEvery = 3000; // milliseconds from an answer to the next request
let keysTimer = 0, keysRequest = null;

// askKeys asks for keys, now and every few seconds. It ends the request before.
async function askKeys() {
  stopKeys();
  if (!keysPanel.open) return;
  const request = keysRequest = new AbortController();
  if (!paused && !document.hidden) {
    try {
      const list = await fetchKeys(keysFind.value, request.signal);
      if (request === keysRequest) showKeys(list);
    } catch (e) {
      if (request === keysRequest) setText(keysNote, 'The keys could not be read: ' + e.message);
    }
  }
  if (request === keysRequest) keysTimer = setTimeout(askKeys, keysEvery);
}

function stopKeys() {
  clearTimeout(keysTimer);
  keysRequest?.abort();
  keysRequest = null;
}

async function fetchKeys(find, signal) {
  const query = new URLSearchParams();
  if (asked !== null) query.set('wheel', asked);
  if (find) query.set('find', find);
  if (keysState.value) query.set('state', keysState.value);
  const answer = await fetch('keys?' + query, { signal });
  if (!answer.ok) throw new Error('status ' + answer.status);
  return answer.json();
}

// showKeys shows the keys as text. A key may be any text, also HTML.
function showKeys({ keys, find, more, states = [], state = 'pending' }) {
  if (keysState.options.length === 0) {
    for (const state of states) element(keysState, 'option', {}, state);
    keysState.hidden = states.length === 0;
  }
  keysBody.replaceChildren();
  for (const { key, remaining_ns: left, note } of keys) {
    const row = element(keysBody, 'tr');
    element(row, 'td', { dir: 'auto' }, key);
    element(row, 'td', {}, note ?? (left === null ? 'gone' : duration(left)));
  }
  const n = keys.length;
  setText(keysNote, find ? foundKeys(n, more, state) : n === 0 ? `No key is ${state}.` : more ? `The next ${n} keys; there are more.` : `All ${state} keys.`);
}

function foundKeys(n, more, state) {
  if (n === 0) return `No ${state} key has this text.`;
  return more ? `The next ${n} keys with this text; there are more.` : `Found ${n === 1 ? 'one key' : n + ' keys'}.`;
}

keysPanel.addEventListener('toggle', askKeys);
keysFind.addEventListener('change', askKeys);
keysFind.addEventListener('input', () => { if (!keysFind.value) askKeys(); });
keysState.addEventListener('change', askKeys);
byId('keys-ask').addEventListener('click', askKeys);
