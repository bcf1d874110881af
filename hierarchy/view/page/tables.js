// The table of circles has the figures of the drawing. A circle's row opens to a table of
// its slots, which is updated only while it is open.
const tableBody = byId('circles').querySelector('tbody');
const kinds = { sub: 'sub', base: 'base', overflow: 'overflow' };
let rows = [];

function buildTable(circles) {
  tableBody.replaceChildren();
  rows = circles.map((c, k) => {
    const kindOf = kind(circles, k);
    const row = element(tableBody, 'tr', { class: kindOf + '-row' });
    const head = element(row, 'th', { scope: 'row' });
    const button = element(head, 'button', { type: 'button', 'aria-expanded': 'false', 'aria-controls': 'slots-' + k }, k + ' ');
    element(button, 'span', { class: 'kind' }, kinds[kindOf]);
    element(row, 'td', {}, duration(c.width_ns));
    element(row, 'td', {}, duration(Math.min(eternity, c.width_ns * 64)));
    const cells = ['hand', 'timers', 'used'].map(() => element(row, 'td'));
    const slots = element(tableBody, 'tr', { id: 'slots-' + k });
    slots.hidden = true;
    button.addEventListener('click', () => openSlots(k));
    row.addEventListener('pointerenter', () => rings[k]?.node.classList.add('lit'));
    row.addEventListener('pointerleave', () => rings[k]?.node.classList.remove('lit'));
    button.addEventListener('focus', () => rings[k]?.node.classList.add('lit'));
    button.addEventListener('blur', () => rings[k]?.node.classList.remove('lit'));
    return { k, button, cells, slots, width: c.width_ns, base: c.base };
  });
}

function openSlots(k) {
  const { slots, button } = rows[k];
  slots.hidden = !slots.hidden;
  button.setAttribute('aria-expanded', String(!slots.hidden));
  if (!slots.hidden && shown) fillSlots(rows[k], shown);
}

function showTables(s) {
  const { circles } = s;
  if (rows.length !== circles.length || rows.some((r, k) => r.width !== circles[k].width_ns || r.base !== circles[k].base)) buildTable(circles);
  for (const row of rows) {
    const c = circles[row.k];
    setText(row.cells[0], 'slot ' + c.hand);
    setText(row.cells[1], count(c.timers));
    setText(row.cells[2], count(c.slots.filter(n => n > 0).length));
    if (!row.slots.hidden) fillSlots(row, s);
  }
}

function fillSlots(row, s) {
  const c = s.circles[row.k];
  const used = c.slots.map((n, slot) => [slot, n]).filter(([, n]) => n > 0);
  row.slots.replaceChildren();
  const cell = element(row.slots, 'td', { colspan: 6 });
  if (used.length === 0) {
    cell.textContent = 'no slot holds timers';
    return;
  }
  const around = element(cell, 'div', { class: 'slots' });
  const table = element(around, 'table');
  element(table, 'caption', { class: 'unseen' }, `Slots of circle ${row.k} that hold timers`);
  const head = element(element(table, 'thead'), 'tr');
  for (const name of ['slot', 'timers', 'under the hand in']) element(head, 'th', { scope: 'col' }, name);
  const body = element(table, 'tbody');
  for (const [slot, n] of inOrder(used, c.hand)) {
    const [from, to] = dueIn(s.circles, row.k, slot, s.elapsed_ns);
    const line = element(body, 'tr');
    element(line, 'th', { scope: 'row' }, String(slot));
    element(line, 'td', {}, count(n));
    element(line, 'td', {}, `${duration(from)} to ${duration(to)}`);
  }
}

// inOrder returns the slots in the order in which the hand reaches them.
const inOrder = (used, hand) => [...used].sort(([a], [b]) => (a - hand + 64) % 64 - (b - hand + 64) % 64);
