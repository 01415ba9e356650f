// Holds three lines among the files of src/: a room imports from rooms of a lower rank only, and from itself (the ranks
// are the line in docs/ARCHITECTURE.md), and so do the rooms within a large room; no file imports itself through others,
// types counted; what is exported is imported somewhere.
import fs from 'node:fs';
import path from 'node:path';

const LINE = [
  ['lib'],
  ['tracing', 'wire', 'workers'],
  ['outbound'],
  ['machinery'],
  ['schema', 'cel', 'kv'],
  ['encryption', 'etcd'],
  ['storage'],
  ['authn', 'authz', 'audit', 'flowcontrol', 'egress'],
  ['registry'],
  ['apis'],
  ['admission'],
  ['rest', 'filters'],
  ['crd', 'aggregation', 'controllers', 'bootstrap'],
  ['workloads'],
  ['options', 'config'],
  ['server'],
  ['testkit'],
  ['commands', 'main'],
];
/** The rooms within a room, ranked in the same way; '' is the room's own root. */
const WITHIN = {
  lib: [
    ['values', 'json', 'text'],
    ['go', 'protobuf'],
    ['telemetry'],
    ['async'],
    ['scheduling', 'x509', 'http'],
    ['files', 'testing'],
  ],
  rest: [
    ['wire'],
    ['contract'],
    ['answer', 'body', 'nodes'],
    ['patch', 'discovery'],
    ['change', 'openapi'],
    ['verbs'],
    ['watch'],
    [''],
  ],
  server: [
    ['listener'],
    ['paths'],
    ['lifecycle'],
    ['kinds', 'metrics'],
    ['storage', 'worker', 'telemetry', 'flow-control'],
    ['outgoing'],
    ['access', 'admission'],
    ['', 'testing'],
  ],
  testkit: [['protocol'], ['host', 'library']],
};
const ranksOf = (line) => new Map(line.flatMap((rooms, i) => rooms.map((room) => [room, i])));
const rank = ranksOf(LINE);
const rankWithin = new Map(Object.entries(WITHIN).map(([room, line]) => [room, ranksOf(line)]));
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(?:type\s)?([^'"]*?)from\s+['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g;
const EXPORTED_VALUE = /^export (?:async )?(?:abstract )?(?:const|function\*?|class) (\w+)/gm;

const sources = new Map(['src', 'test'].flatMap(filesBelow).map((file) => [file, importsOf(file)]));
const mistakes = [...againstTheLine(), ...circles(), ...unusedValues()];
for (const mistake of mistakes) console.error(mistake);
if (mistakes.length > 0) process.exit(1);

function filesBelow(folder) {
  const names = fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.ts'));
  return names.map((name) => path.join(folder, name));
}

/** Each with the file it leads to, the names it imports, and whether it is a statement and not a call. */
function importsOf(file) {
  return Array.from(fs.readFileSync(file, 'utf8').matchAll(IMPORT), ([, clause = '*', fixed, called]) => {
    const target = path.join(path.dirname(file), fixed ?? called).replace(/\.js$/, '.ts');
    const imported = clause
      .replace(/[{}]/g, ' ')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
    const names = imported.map((name) =>
      name
        .replace(/^type /, '')
        .split(' as ')[0]
        .trim(),
    );
    return { target, names, isStatic: fixed !== undefined };
  });
}

function againstTheLine() {
  const wrong = [];
  for (const [file, imports] of servingFiles()) {
    const from = roomOf(file);
    if (!rank.has(from)) wrong.push(`${file}: room "${from}" is not on the line in tools/check-imports.mjs`);
    for (const { target } of imports) {
      const to = roomOf(target);
      if (path.relative('src', target).startsWith('..')) continue;
      if (to === from) {
        wrong.push(...againstTheLineWithin(rankWithin.get(to), file, target));
        continue;
      }
      if (!rank.has(to) || rank.get(to) >= rank.get(from)) wrong.push(`${file}: ${from} may not import from ${to}`);
    }
  }
  return wrong;
}

function againstTheLineWithin(ranks, file, target) {
  if (ranks === undefined) return [];
  const [from, to] = [roomWithin(file), roomWithin(target)];
  if (!ranks.has(from)) return [`${file}: "${from}" is not on its room's line in tools/check-imports.mjs`];
  if (to === from || ranks.get(to) < ranks.get(from)) return [];
  return [`${file}: ${from || 'the root of its room'} may not import from ${to || 'the root'}`];
}

/**
 * Imports of types are counted: a type that a file and its parts share is in a file of its own. What is imported when it
 * is first used is not.
 */
function circles() {
  const wrong = [];
  const done = new Set();
  const visit = (file, way) => {
    if (way.includes(file)) wrong.push(`in a circle: ${[...way.slice(way.indexOf(file)), file].join(' → ')}`);
    if (done.has(file) || way.includes(file)) return;
    for (const { target, isStatic } of sources.get(file) ?? []) {
      if (isStatic) visit(target, [...way, file]);
    }
    done.add(file);
  };
  for (const [file] of servingFiles()) visit(file, []);
  return wrong;
}

/** Types are left out: one that is named in an exported signature is better exported. */
function unusedValues() {
  const used = new Set();
  for (const imports of sources.values()) {
    for (const { target, names } of imports) for (const name of names) used.add(`${target} ${name}`);
  }
  const wrong = [];
  for (const [file] of servingFiles()) {
    if (used.has(`${file} *`)) continue;
    for (const [, name] of fs.readFileSync(file, 'utf8').matchAll(EXPORTED_VALUE)) {
      if (!used.has(`${file} ${name}`)) wrong.push(`${file}: nobody imports ${name}`);
    }
  }
  return wrong;
}

function servingFiles() {
  return [...sources].filter(([file]) => file.startsWith('src') && !file.endsWith('.test.ts'));
}

function roomWithin(file) {
  const parts = path.relative('src', file).split(path.sep);
  return parts.length > 2 ? parts[1] : '';
}

function roomOf(file) {
  const parts = path.relative('src', file).split(path.sep);
  return parts.length === 1 ? parts[0].replace(/\.ts$/, '') : parts[0];
}
