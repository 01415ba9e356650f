import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { featureGateNames } from '../machinery/feature-gates.js';
import { GATE_EFFECTS } from './gate-effects.js';
import { gatesPage } from './gates-page.js';

const root = process.env['BINNACLE_ROOT'] ?? '.';

test('docs/reference/feature-gates.md is what the tables of gates say', () => {
  const page = path.join(root, 'docs', 'reference', 'feature-gates.md');
  assert.equal(fs.readFileSync(page, 'utf8'), gatesPage(), 'run node tools/generate-gate-docs.mjs');
});

test('a gate is read somewhere exactly when the page says that it is in effect', () => {
  const source = sourceText(path.join(root, 'src'));
  const isRead = (gate: string): boolean =>
    source.includes(`'${gate}'`) || new RegExp(`\\[(?:\\w+,)*${gate}(?:,\\w+)*\\]`).test(source);
  for (const gate of featureGateNames()) {
    const said = GATE_EFFECTS[gate].kind === 'in effect';
    assert.equal(isRead(gate), said, `${gate}: ${said ? 'nothing reads it' : 'something reads it'}`);
  }
});

/** Of all that runs; the tables of gates themselves name them all. */
function sourceText(folder: string): string {
  const files = fs.readdirSync(folder, { recursive: true }).map(String);
  const runs = files.filter((file) => {
    const ours =
      file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith(path.join('schema', 'generated'));
    return ours && !/gate-effects|gate-history/.test(file);
  });
  return runs.map((file) => fs.readFileSync(path.join(folder, file), 'utf8')).join('\n');
}
