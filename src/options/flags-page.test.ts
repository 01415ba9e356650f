import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { flagsPage } from './flags-page.js';

test('docs/reference/flags.md is what the tables of flags say', () => {
  const page = path.join(process.env['BINNACLE_ROOT'] ?? '.', 'docs', 'reference', 'flags.md');
  assert.equal(fs.readFileSync(page, 'utf8'), flagsPage(), 'run node tools/generate-flag-docs.mjs');
});
