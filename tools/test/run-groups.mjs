// Runs groups of test files, each in a process of its own, some at a time. Says a line for each file that ended, and all
// of the output of a process when something of it failed.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** A process that runs on for so long is stuck. */
const GIVE_UP_MS = 15 * 60_000;
const REPORTER = path.join(import.meta.dirname, 'result-reporter.mjs');
const RUN_FILES = path.join(import.meta.dirname, 'run-files.cjs');

let started = 0;
const running = new Set();
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.on(signal, () => {
    endAllGroups();
    process.exit(code);
  });
}

export function endAllGroups() {
  for (const child of running) endGroup(child);
}

/**
 * `groups`: `{ files, bundle }` each. What became of each file: `{ name, isOk, passed, failed, skipped, ms }`; `isOk` alone where its
 * process ended early.
 */
export async function runGroups(groups, { folder, jobs, nodeFlags, isVerbose }) {
  const results = [];
  const waiting = [...groups];
  let processorMs = 0;
  const work = async () => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      const ended = await runGroup(group, { folder, nodeFlags, isVerbose });
      processorMs += ended.processorMs;
      results.push(...ended.results);
      if (isVerbose) continue;
      for (const one of ended.results) console.log(lineOf(one));
      if (ended.results.some(({ isOk }) => !isOk)) console.log(ended.text);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, groups.length) }, work));
  return { results, processorMs };
}

async function runGroup({ files, bundle }, { folder, nodeFlags, isVerbose }) {
  const out = path.join(folder, `results-${(started += 1)}`);
  const reporters = [
    ['spec', isVerbose ? 'stdout' : `${out}.txt`],
    [REPORTER, `${out}.json`],
  ].flatMap(([reporter, to]) => [`--test-reporter=${reporter}`, `--test-reporter-destination=${to}`]);
  const names = files.map(({ name }) => name);
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', ...reporters, ...nodeFlags, RUN_FILES, bundle, ...names],
    {
      stdio: isVerbose ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that what it started ends with it where it must be ended.
      detached: !isVerbose,
      env: { BINNACLE_ROOT: process.cwd(), ...process.env },
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const timer = setTimeout(() => {
    output += `\nended after ${GIVE_UP_MS / 60_000} minutes`;
    endGroup(child);
  }, GIVE_UP_MS);
  running.add(child);
  const code = await new Promise((resolve) => child.on('close', (status, signal) => resolve(status ?? signal)));
  clearTimeout(timer);
  running.delete(child);
  // Servers that a test left running when its process ended.
  if (code !== 0) endGroup(child);
  const { files: ended, processorMs } = readResults(`${out}.json`);
  // An error outside of any test is nobody's in particular.
  const isNobodys = code !== 0 && names.every((name) => ended[name]?.isOk);
  const results = names.map((name) => ({ name, ...((!isNobodys && ended[name]) || { isOk: false }) }));
  if (results.length === 1) results[0].processorMs = processorMs;
  return { results, processorMs, text: `${output}\n${failuresIn(`${out}.txt`)}\nended with ${code}` };
}

function endGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

function readResults(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return { files: {}, processorMs: 0 };
  }
}

/** What the spec reporter says at its end; all of it where it did not come to that. */
function failuresIn(file) {
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  const at = text.indexOf('failing tests:');
  return at < 0 ? text : text.slice(at);
}

function lineOf({ name, isOk, passed, failed, ms, processorMs }) {
  if (passed === undefined) return `✖ ${name}: did not come to its end`;
  const counts = failed > 0 ? `${passed} passed, ${failed} failed` : `${passed}`;
  const ofProcessors = processorMs === undefined ? '' : `, ${seconds(processorMs)} of processors`;
  return `${isOk ? '✔' : '✖'} ${name}: ${counts} (${seconds(ms)}${ofProcessors})`;
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
