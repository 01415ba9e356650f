// What a stopped process touched between two marks (cache-lines.c), by function: V8's compiled code by the map that
// --perf-basic-prof writes, Node.js's own by its symbols, libraries by their files.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const RUN = 4;
const HALF_A_LINE = 32;
/** Where a program without relocation is loaded. */
const PROGRAM_BASE = 0x400000;

/** `{ lines, instructions, rows, byFunction }`; a row: a function as it is run first or again, and what it touched first. */
export function readTouched(folder, pid) {
  const nameOf = namer(pid);
  const touched = rowsOf(path.join(folder, 'lines')).map(([address, kind]) => [parseInt(address, 16), Number(kind)]);
  const rows = [];
  for (const [address, kind] of touched) {
    const row = rows.at(-1);
    if ((kind & RUN) === 0) {
      if (row !== undefined) row.data++;
      continue;
    }
    const name = nameOf(address + HALF_A_LINE);
    if (row?.name === name) row.code++;
    else rows.push({ name, code: 1, data: 0 });
  }
  const instructions = new Map();
  for (const [address, count] of rowsOf(path.join(folder, 'blocks')))
    add(instructions, nameOf(parseInt(address, 16)), Number(count));
  return { lines: touched.length, instructions: [...instructions.values()].reduce((a, b) => a + b, 0), rows };
}

/** The rows of JavaScript, each with what it called outside of it until the next. */
export function storyOf(rows) {
  const story = [];
  for (const { name, code, data } of rows) {
    const lines = code + data;
    const last = story.at(-1);
    if (name.startsWith('JS:') || name.startsWith('RegExp:')) {
      if (last?.name === name) last.lines += lines;
      else story.push({ name, lines, nativeLines: 0, native: [] });
    } else if (last === undefined) story.push({ name: '(event loop)', lines: 0, nativeLines: lines, native: [name] });
    else {
      last.nativeLines += lines;
      if (last.native.at(-1) !== name) last.native.push(name);
    }
  }
  return story;
}

export const add = (counts, name, count) => void counts.set(name, (counts.get(name) ?? 0) + count);

const rowsOf = (file) =>
  fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '));

function namer(pid) {
  const areas = rowsOf(`/proc/${pid}/maps`).map((columns) => {
    const [start, end] = columns[0].split('-').map((text) => parseInt(text, 16));
    return { start, end, offset: parseInt(columns[2], 16), file: columns.slice(5).join(' ').trim() };
  });
  const program = fs.realpathSync(process.execPath);
  const ofProgram = search(symbolsOf(program));
  const ofCompiled = search(compiledBy(pid));
  const areaOf = search(areas);
  return (address) => {
    const area = areaOf(address);
    if (area === undefined) return '?';
    // V8 has a copy of its builtins near its compiled code: the same bytes of the file.
    if (area.file === program) return ofProgram(address - area.start + area.offset + PROGRAM_BASE)?.name ?? '?';
    if (area.file !== '') return path.basename(area.file);
    return ofCompiled(address)?.name ?? '(compiled)';
  };
}

/** Finds the one of sorted areas that has an address. */
function search(areas) {
  return (address) => {
    let low = 0;
    let high = areas.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (areas[middle].start <= address) low = middle + 1;
      else high = middle;
    }
    const area = areas[low - 1];
    return area !== undefined && address < area.end ? area : undefined;
  };
}

function symbolsOf(program) {
  const text = execFileSync('nm', ['-C', '-n', '--defined-only', program], { maxBuffer: 2 ** 28 }).toString();
  const symbols = [...text.matchAll(/^([0-9a-f]+) [tTwW] (.*)$/gm)].map(([, start, name]) => ({
    start: parseInt(start, 16),
    name: name
      .split('(')[0]
      .replace(/^v8::internal::/, '')
      .replace(/^Builtins_/, 'B.'),
  }));
  return symbols.map((symbol, index) => ({ ...symbol, end: symbols[index + 1]?.start ?? Infinity }));
}

/** The newest code at each address. */
function compiledBy(pid) {
  const newest = new Map();
  for (const [, start, size, name] of fs
    .readFileSync(`/tmp/perf-${pid}.map`, 'utf8')
    .matchAll(/^([0-9a-f]+) ([0-9a-f]+) (.*)$/gm))
    newest.set(parseInt(start, 16), { size: parseInt(size, 16), name: shorten(name) });
  return [...newest]
    .map(([start, { size, name }]) => ({ start, end: start + size, name }))
    .sort((a, b) => a.start - b.start);
}

/** "JS:*encode /a/b/dist/binnacle.cjs:10:20" is "JS:*encode binnacle.cjs:10:20". */
const shorten = (name) => name.replace(/ \/\S*\/([^/]+)$/, ' $1');
