// Holds the one-way import line between the rooms of src/: a room may import from rooms of a lower rank only,
// and from itself. The ranks are the line in docs/ARCHITECTURE.md.
import fs from 'node:fs';
import path from 'node:path';

const LINE = [
  ['lib'],
  ['tracing'],
  ['outbound'],
  ['machinery'],
  ['wire', 'schema', 'cel', 'kv'],
  ['encryption'],
  ['storage'],
  ['authn', 'authz', 'audit', 'flowcontrol', 'egress'],
  ['registry'],
  ['apis'],
  ['admission'],
  ['rest', 'filters'],
  ['crd', 'aggregation', 'controllers', 'bootstrap'],
  ['options', 'config'],
  ['server'],
  ['main'],
];
const rank = new Map(LINE.flatMap((rooms, i) => rooms.map((room) => [room, i])));
const IMPORT = /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s+['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g;

const roomOf = (file) => {
  const parts = path.relative('src', file).split(path.sep);
  return parts.length === 1 ? parts[0].replace(/\.ts$/, '') : parts[0];
};
let wrong = 0;
for (const name of fs.readdirSync('src', { recursive: true })) {
  const file = path.join('src', name);
  if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
  const from = roomOf(file);
  if (!rank.has(from)) {
    console.error(`${file}: room "${from}" is not on the line in tools/check-imports.mjs`);
    wrong++;
    continue;
  }
  for (const match of fs.readFileSync(file, 'utf8').matchAll(IMPORT)) {
    const target = path.join(path.dirname(file), match[1] ?? match[2]);
    if (path.relative('src', target).startsWith('..')) continue;
    const to = roomOf(target.replace(/\.js$/, '.ts'));
    if (to === from) continue;
    if (!rank.has(to) || rank.get(to) >= rank.get(from)) {
      console.error(`${file}: ${from} may not import from ${to}`);
      wrong++;
    }
  }
}
if (wrong > 0) {
  console.error(`${wrong} imports against the line`);
  process.exit(1);
}
