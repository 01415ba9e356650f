// All that must hold before a change lands, in lanes. What uses the processors and what mostly waits go on beside each
// other; what judges time comes last, with nothing beside it. A lane's output is shown when the lane ends, and a table
// of all lanes at the end.
//
//   node tools/gate.mjs              what .ci/run does after npm ci
//   node tools/gate.mjs --release    the same, all tests on the other versions of Node, and those that start servers with two
//                                    worker processes each
//   node tools/gate.mjs --lane=TEXT  only lanes with that in their names
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readSecondTries } from './second-tries.mjs';

const SHARED = path.resolve('../shared');
const FOLDER = '.cache/gate';
/** One process fewer than they would run without another row beside them. */
const TESTS = `node tools/test.mjs --jobs=${os.availableParallelism() + 1} --summary=SUMMARY`;
const isRelease = process.argv.includes('--release');
const wanted = process.argv.find((arg) => arg.startsWith('--lane='))?.slice('--lane='.length) ?? '';
const hasRecordings = fs.existsSync(path.join(SHARED, 'golden'));

/** One after another within a row; the rows of a stage beside each other. */
const STAGES = [
  [[lane('fetched programs', 'node tools/fetch-test-binaries.mjs && node tools/fetch-node.mjs')], checks()],
  [
    [
      lane('unit tests', `${TESTS} --together src`),
      lane('process tests', `${TESTS} --together test`),
      ...otherNodes('--together'),
      ...twoWorkers('--together'),
      ...recordings('recorded answers', 'recorded answers, two workers'),
    ],
    recordings(
      'recorded scenarios',
      'recorded start-ups',
      'recorded scenarios, two workers',
      'recorded start-ups, two workers',
    ),
  ],
  [[lane('tests of time', `${TESTS} --alone src test`), ...otherNodes('--alone'), ...twoWorkers('--alone')]],
];

fs.rmSync(FOLDER, { recursive: true, force: true });
fs.mkdirSync(FOLDER, { recursive: true });
const startMs = performance.now();
const ended = [];
for (const rows of STAGES) {
  await Promise.all(
    rows.map(async (row) => {
      for (const one of row.filter(({ name }) => name.includes(wanted))) await run(one);
    }),
  );
}
printTable();
process.exit(ended.some(({ failed }) => failed > 0) ? 1 : 0);

function lane(name, command) {
  return { name, command };
}

function checks() {
  return [
    lane('types', 'npm run -s types'),
    lane('lint and imports', 'npm run -s lint'),
    lane('format', 'npm run -s format:check'),
  ];
}

function otherNodes(which) {
  const marked = isRelease ? '' : '--every-node';
  const majors = isRelease ? ['22', '24'] : ['24'];
  return majors.map((major) =>
    lane(
      `Node ${major}, ${which.slice(2)}`,
      `node tools/fetch-node.mjs ${major} &&
      PATH="$PWD/.cache/node-${major}/bin:$PATH" ${TESTS} ${marked} ${which} src test`,
    ),
  );
}

function twoWorkers(which) {
  if (!isRelease) return [];
  return [lane(`two workers, ${which.slice(2)}`, `${TESTS} --workers=2 ${which} test`)];
}

/** Scenarios mostly wait, so that more of them than there are processors go on at a time. */
function recordings(...names) {
  if (!hasRecordings) return [];
  const options = `--shared "${SHARED}" --ratchet --summary SUMMARY`;
  const lanes = [
    lane('recorded scenarios', `node tools/parity-scenarios.mjs ${options} --jobs 3`),
    lane('recorded start-ups', `node tools/parity-config.mjs ${options} --show 0`),
    lane('recorded answers', `node tools/parity.mjs ${options}`),
  ];
  if (isRelease) {
    lanes.push(
      lane('recorded scenarios, two workers', `node tools/parity-scenarios.mjs ${options} --jobs 3 --workers 2`),
      lane('recorded start-ups, two workers', `node tools/parity-config.mjs ${options} --show 0 --workers 2`),
      lane('recorded answers, two workers', `node tools/parity.mjs ${options} --workers 2`),
    );
  }
  return lanes.filter(({ name }) => names.includes(name));
}

async function run({ name, command }) {
  const base = path.join(FOLDER, name.replaceAll(/\W+/g, '-'));
  const log = fs.openSync(`${base}.log`, 'w');
  const began = performance.now();
  console.log(`${clock()} ${name} begins`);
  // The shell's `times` reports what the processes that it waited for used, theirs included.
  const script = `${command.replaceAll('SUMMARY', `${base}.json`)}; code=$?; times >"${base}.times"; exit $code`;
  const child = spawn('bash', ['-c', script], { stdio: ['ignore', log, log] });
  const code = await new Promise((resolve) => child.on('close', resolve));
  fs.closeSync(log);
  const wallMs = performance.now() - began;
  const { passed = code === 0 ? 1 : 0, failed = 0 } = readJson(`${base}.json`) ?? {};
  ended.push({
    name,
    passed,
    failed: code === 0 ? failed : Math.max(1, failed),
    wallMs,
    processorMs: processorMs(`${base}.times`),
  });
  console.log(`\n${clock()} ${name} ${code === 0 ? 'ended' : `failed with ${code}`}, ${minutes(wallMs)} min:`);
  console.log(fs.readFileSync(`${base}.log`, 'utf8'));
}

function readJson(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined;
}

/** The second line of `times`: "1m2.345s 0m6.789s". */
function processorMs(file) {
  const text = fs.existsSync(file) ? (fs.readFileSync(file, 'utf8').split('\n')[1] ?? '') : '';
  return Array.from(
    text.matchAll(/(\d+)m([\d.]+)s/g),
    ([, min, sec]) => Number(min) * 60_000 + Number(sec) * 1000,
  ).reduce((sum, ms) => sum + ms, 0);
}

function printTable() {
  const row = (name, ...cells) =>
    console.log(`${name.padEnd(24)}${cells.map((cell) => String(cell).padStart(11)).join('')}`);
  const sum = (member) => ended.reduce((total, one) => total + one[member], 0);
  row('\nlane', ' passed', 'failed', 'minutes', 'processors');
  for (const one of ended) row(one.name, one.passed, one.failed, minutes(one.wallMs), minutes(one.processorMs));
  row('all', sum('passed'), sum('failed'), minutes(performance.now() - startMs), minutes(sum('processorMs')));
  const tries = Object.keys(readSecondTries());
  if (tries.length > 0) console.log(`\npassed only on a second try, to be mended: ${tries.join(', ')}`);
  console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
}

function minutes(ms) {
  return (ms / 60_000).toFixed(1);
}

function clock() {
  return new Date().toISOString().slice(11, 19);
}
