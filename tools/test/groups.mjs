// Which files share a process, and in which order the processes start: the longest first, so that none runs on alone at
// the end. How long a file took is kept from run to run in .cache/test-times.json; one that is not known there
// counts by its size.
import fs from 'node:fs';

const TIMES = '.cache/test-times.json';
const UNIT_PROCESSES = 20;
/** Starting a process takes about half a second: fewer are started for few files. */
const MIN_PROCESS_MS = 2_000;
/** What tests take without the figures: for a kilobyte of a unit test, and for a file that starts servers. */
const UNIT_MS_PER_KB = 40;
const PROCESS_MS = 10_000;

/** Lists of files; unit tests are together with those of their room, others are by themselves. */
export function groupFiles(files) {
  const times = readTimes();
  const expectedMs = (file) =>
    times[file.name] ?? (file.kind === 'unit' ? (file.size / 1024) * UNIT_MS_PER_KB : PROCESS_MS);
  const totalOf = (group) => group.reduce((sum, file) => sum + expectedMs(file), 0);
  const isShared = (file) => file.kind === 'unit' && !file.isAlone;
  const units = files.filter(isShared);
  const shareMs = Math.max(totalOf(units) / UNIT_PROCESSES, MIN_PROCESS_MS);
  const groups = files.filter((file) => !isShared(file)).map((file) => [file]);
  let group = [];
  let groupMs = 0;
  for (const file of units) {
    if (group.length > 0 && groupMs + expectedMs(file) / 2 > shareMs) {
      groups.push(group);
      group = [];
      groupMs = 0;
    }
    group.push(file);
    groupMs += expectedMs(file);
  }
  if (group.length > 0) groups.push(group);
  return groups.sort((a, b) => totalOf(b) - totalOf(a));
}

export function recordTimes(results) {
  const times = readTimes();
  for (const { name, ms } of results) times[name] = ms;
  const existing = Object.entries(times).filter(([name]) => fs.existsSync(name));
  fs.writeFileSync(
    TIMES,
    `${JSON.stringify(Object.fromEntries(existing.sort(([a], [b]) => (a < b ? -1 : 1))), null, 1)}\n`,
  );
}

function readTimes() {
  try {
    return JSON.parse(fs.readFileSync(TIMES, 'utf8'));
  } catch {
    return {};
  }
}
