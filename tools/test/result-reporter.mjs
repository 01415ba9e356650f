// A reporter for node:test in a process of run-files.cjs: as JSON, for each file that ended, how long it took and how many
// of its tests passed, failed and were skipped. A file of which nothing is here did not come to its end.
import fs from 'node:fs';

export default async function* results(events) {
  const files = {};
  let counts = { passed: 0, failed: 0, skipped: 0 };
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.nesting === 0) {
      files[data.name] = { ...counts, isOk: type === 'test:pass', ms: Math.round(data.details.duration_ms) };
      counts = { passed: 0, failed: 0, skipped: 0 };
    } else if (data.details.type !== 'suite') {
      if (data.skip !== undefined || data.todo !== undefined) counts.skipped++;
      else counts[type === 'test:pass' ? 'passed' : 'failed']++;
    }
  }
  yield JSON.stringify({ files, processorMs: processorMs() });
}

/** Of this process and of the processes that it started and that ended, as Linux counts it in hundredths of a second. */
function processorMs() {
  try {
    const fields = fs.readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
  } catch {
    return 0;
  }
}
