// Runs test files with node:test.
//
//   node tools/test.mjs src                              every src/**/*.test.ts
//   node tools/test.mjs src/kv test                      those folders or files only
//   node tools/test.mjs --test-name-pattern=TEXT FILE    other options go to Node: --inspect-brk, --cpu-prof
//   node tools/test.mjs --every-node test                only files marked for every Node (tools/test/files.mjs)
//   node tools/test.mjs --together src test               all but files that run alone; --alone: only those
//   node tools/test.mjs --workers=2 test                 the files that start servers, each with two worker processes
//   node tools/test.mjs --jobs=4 test                    processes at a time, instead of two more than processors
//   node tools/test.mjs --static src test                types, lint and format beside them; where these fail, all ends
//   node tools/test.mjs --summary=FILE src               counts and times as JSON
//
// Unit tests share some twenty processes, by room; other files have one each. Files that judge real time or memory run last,
// one at a time. Test files that failed, where they are few, are run once more alone: tools/second-tries.mjs.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { recordSecondTries } from './second-tries.mjs';
import { bundleTests } from './test/bundle-tests.mjs';
import { findTestFiles } from './test/files.mjs';
import { groupFiles, recordTimes } from './test/groups.mjs';
import { endAllGroups, runGroups } from './test/run-groups.mjs';
import { beginStaticChecks } from './test/static-checks.mjs';

const MAX_SECOND_TRIES = 3;

const args = process.argv.slice(2);
const roots = args.filter((arg) => !arg.startsWith('--'));
const ours = ['--alone', '--every-node', '--jobs', '--static', '--summary', '--together', '--workers'];
const nodeFlags = args.filter((arg) => arg.startsWith('--') && !ours.includes(arg.split('=')[0]));
const optionOf = (name) => args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1);

const files = findTestFiles(roots)
  .filter((file) => file.isForEveryNode || !args.includes('--every-node'))
  .filter((file) => (file.isAlone ? !args.includes('--together') : !args.includes('--alone')))
  .filter(optionOf('--workers') === undefined ? () => true : isForWorkers);
if (files.length === 0) {
  console.error(`no test files under ${roots.join(' ')}`);
  process.exit(1);
}
if (optionOf('--workers') !== undefined) process.env.BINNACLE_WORKERS = optionOf('--workers');
const startMs = performance.now();
fs.mkdirSync('.cache', { recursive: true });
const folder = fs.mkdtempSync(path.join('.cache', 'test-'));
// Process tests wait for much of their time: two more than there are processors keep these busy.
const jobs = Number(optionOf('--jobs') ?? os.availableParallelism() + 2);

const checks = args.includes('--static') && beginStaticChecks({ onFailure: endRun });
const groups = await bundleTests(groupFiles(files), folder);
const isAloneGroup = (group) => group.files.some(({ isAlone }) => isAlone);
const together = await run(
  groups.filter((group) => !isAloneGroup(group)),
  jobs,
);
// Nothing may go on beside what is judged by time.
await checks;
const alone = await run(groups.filter(isAloneGroup), 1);
const results = [...together.results, ...alone.results];
const failed = results.filter(({ isOk }) => !isOk);
// When a process crashes, any of its files may be to blame: each is tried by itself.
const isFew = failed.filter(({ passed }) => passed !== undefined).length <= MAX_SECOND_TRIES;
const again = isFew && failed.length > 0 ? await tryAgain(failed) : { results: failed, processorMs: 0 };
const failedAgain = again.results.filter(({ isOk }) => !isOk);
// Those that only shared a process with one that ends it needed no second try.
const isUnfinished = (result) => failed.some(({ name, passed }) => name === result.name && passed === undefined);
const hasCulprit = failedAgain.some(isUnfinished);
const mended = again.results.filter((result) => result.isOk && !(hasCulprit && isUnfinished(result)));
const notFirst = recordSecondTries(mended.map(({ name }) => name));
recordTimes(results.filter(({ isOk }) => isOk));
fs.rmSync(folder, { recursive: true, force: true });
report();

function endRun() {
  endAllGroups();
  fs.rmSync(folder, { recursive: true, force: true });
  process.exit(1);
}

function isForWorkers({ name, startsServers, oneWorkerReason }) {
  if (!startsServers || oneWorkerReason === undefined) return startsServers;
  console.log(`with one worker only: ${name}: ${oneWorkerReason}`);
  return false;
}

function run(some, processes) {
  return runGroups(some, { folder, jobs: processes, nodeFlags, isVerbose: files.length === 1 });
}

function tryAgain(list) {
  console.log(`\nonce more, with nothing beside them: ${list.map(({ name }) => name).join(' ')}\n`);
  const names = new Set(list.map(({ name }) => name));
  const each = groups.flatMap(({ files: all, bundle }) => all.map((file) => ({ files: [file], bundle })));
  return run(
    each.filter((group) => names.has(group.files[0].name)),
    1,
  );
}

function report() {
  const last = [...results.filter(({ isOk }) => isOk), ...again.results];
  const sum = (member) => last.reduce((total, one) => total + (one[member] ?? 0), 0);
  // A file that fails without a test of its own that does is one failure.
  const failures = failedAgain.reduce((total, one) => total + Math.max(1, one.failed ?? 0), 0) + notFirst.length;
  const summary = {
    passed: sum('passed'),
    failed: failures,
    skipped: sum('skipped'),
    wallMs: Math.round(performance.now() - startMs),
    processorMs: together.processorMs + alone.processorMs + again.processorMs,
    secondTries: mended.map(({ name }) => name),
  };
  const to = optionOf('--summary');
  if (to !== undefined) fs.writeFileSync(to, JSON.stringify(summary));
  for (const { name } of failedAgain) console.log(`failed: ${name}`);
  const seconds = (ms) => `${(ms / 1000).toFixed(0)} s`;
  console.log(
    `${files.length} files, ${summary.skipped} tests skipped, ${seconds(summary.wallMs)} (${seconds(summary.processorMs)} of processors)`,
  );
  console.log(`${summary.passed} passed, ${summary.failed} failed`);
  process.exit(summary.failed > 0 ? 1 : 0);
}
