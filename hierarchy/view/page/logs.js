// What the page of timers in logs counts, and the table of the logs.
const rated = [['fired', 'attempts'], ['frames', 'frames'], ['scheduled', 'set']];
const counters = [
  ['pending', 'pending'], ['running', 'running'], ['stuck', 'stuck'], ['dead', 'dead'], ['failed', 'attempts failed'],
  ['fired', 'attempts'], ['scheduled', 'set'], ['moved', 'moved'], ['stopped', 'removed'],
];
const fates = ['pending', 'dead'];
const whole = s => s.pending + s.dead;
const alarming = ['stuck', 'dead'];
const clockText = ns => new Date(ns / 1e6).toISOString().replace('T', ' ').slice(0, 21) + ' UTC';

const logsBody = byId('logs').querySelector('tbody'), logsFoot = byId('logs').querySelector('tfoot');
const logFields = ['pending', 'running', 'stuck', 'dead', 'failed', 'frames', 'bytes', 'disk_bytes', 'live_bytes'];
const logLabels = ['pending', 'running', 'stuck', 'dead', 'attempts failed', 'frames', 'written', 'on the disk', 'live', 'commit, p50', 'commit, p99', 'commit, max'];
const commits = ['p50_ns', 'p99_ns', 'max_ns'];
let logRows = [];

const membersPart = byId('members-part'), membersBody = byId('members').querySelector('tbody');

// beside adds the sums of all logs to a snapshot, and shows the table.
function beside(s) {
  const all = {};
  for (const field of logFields) all[field] = s.logs.reduce((sum, log) => sum + log[field], 0);
  for (const field of ['stuck', 'dead', 'failed', 'frames']) s[field] = all[field];
  if (logRows.length !== s.logs.length) buildLogs(s.logs.length);
  s.logs.forEach((log, i) => showLog(logRows[i], log));
  const cells = logsFoot.rows[0].cells;
  logFields.forEach((field, i) => setText(cells[i + 2], figure(field, all[field])));
  showMembers(s.members ?? []);
}

// showMembers shows the processes that share the partitions, if there are any. Without them nobody
// needs to know who owns what.
function showMembers(members) {
  membersPart.hidden = members.length === 0;
  for (const cell of byId('logs').querySelectorAll('.owner')) cell.hidden = membersPart.hidden;
  setText(byId('logs-all'), membersPart.hidden ? 'all' : 'this process');
  while (membersBody.rows.length > members.length) membersBody.lastElementChild.remove();
  while (membersBody.rows.length < members.length) {
    const row = element(membersBody, 'tr');
    element(row, 'th', { scope: 'row' });
    element(row, 'td');
    element(row, 'td');
  }
  members.forEach((member, i) => {
    const row = membersBody.rows[i], [text, owned, state] = row.cells;
    row.classList.toggle('self', member.self);
    setText(text, member.text);
    setText(owned, count(member.partitions));
    setText(state, [member.self && 'this process', member.leaving && 'leaving'].filter(Boolean).join(', ') || '–');
  });
}

function buildLogs(n) {
  logsBody.replaceChildren();
  logRows = Array.from({ length: n }, (_, i) => {
    const row = element(logsBody, 'tr', { role: 'row' });
    element(row, 'th', { scope: 'row', role: 'rowheader' }, String(i));
    const owner = element(row, 'td', { class: 'owner', role: 'cell', 'data-label': 'owner' });
    for (const label of logLabels) element(row, 'td', { role: 'cell', 'data-label': label });
    const problem = element(row, 'td', { class: 'problem', colspan: logFields.length + commits.length });
    return { row, owner, cells: [...row.cells].slice(2, -1), problem };
  });
}

function showLog({ row, owner, cells, problem }, log) {
  setText(owner, log.owner ?? 'nobody');
  row.classList.toggle('bad', Boolean(log.error));
  for (const cell of cells) cell.hidden = Boolean(log.error);
  problem.hidden = !log.error;
  setText(problem, log.error ?? '');
  logFields.forEach((field, i) => setText(cells[i], figure(field, log[field])));
  commits.forEach((field, i) => setText(cells[logFields.length + i], log.commit.count ? duration(log.commit[field]) : '–'));
}

const figure = (field, n) => field.endsWith('bytes') ? bytesText(n) : count(n);

// bytesText formats a number of bytes.
function bytesText(bytes) {
  const [from, unit] = [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'KB'], [1, 'B']].find(([from]) => bytes >= from) ?? [1, 'B'];
  return digits(bytes / from, 3) + '\u00a0' + unit;
}

[...logsFoot.rows[0].cells].slice(2, 2 + logFields.length).forEach((cell, i) => cell.setAttribute('data-label', logLabels[i]));
byId('counters').classList.add('few');
