// The test files of a run, with what each says of itself in comments of its own line:
//
//   // runs: alone            judges real time or memory: a process of its own, last, with nothing beside it
//   // runs-on: every-node    holds what Node can change: it runs on the second Node too
//   // workers: one, REASON   cannot pass where servers have several worker processes
import fs from 'node:fs';
import path from 'node:path';

const ALONE = /^\/\/ runs: alone\b/m;
const EVERY_NODE = /^\/\/ runs-on: every-node\b/m;
const ONE_WORKER = /^\/\/ workers: one, (.+)$/m;
/** What starts a server of the run's number of worker processes imports it. */
const WORKER_FLAGS = path.join('test', 'support', 'worker-flags.ts');

/** `kind` is "unit" for files of src/, many of which share a process, and "process" for those of test/. */
export function findTestFiles(roots) {
  const names = roots.flatMap((root) => (fs.statSync(root).isFile() ? [path.normalize(root)] : testFilesBelow(root)));
  return [...new Set(names)].map((name) => {
    const text = fs.readFileSync(name, 'utf8');
    return {
      name,
      kind: name.startsWith(`src${path.sep}`) ? 'unit' : 'process',
      isAlone: ALONE.test(text),
      isForEveryNode: EVERY_NODE.test(text),
      startsServers: importsBelow(name).has(WORKER_FLAGS),
      oneWorkerReason: ONE_WORKER.exec(text)?.[1],
      size: text.length,
    };
  });
}

function testFilesBelow(root) {
  return fs
    .readdirSync(root, { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => path.join(root, name));
}

/** The file and what it imports of its own tree, directly or not. */
function importsBelow(name, seen = new Set()) {
  if (seen.has(name) || name.startsWith(`src${path.sep}`) || !fs.existsSync(name)) return seen;
  seen.add(name);
  for (const [, from] of fs.readFileSync(name, 'utf8').matchAll(/ from '(\.[^']+)\.js'/g)) {
    importsBelow(`${path.join(path.dirname(name), from)}.ts`, seen);
  }
  return seen;
}
