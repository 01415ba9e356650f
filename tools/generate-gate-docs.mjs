// Writes docs/reference/feature-gates.md from the tables of feature gates.
import fs from 'node:fs';
import path from 'node:path';
import { loadSource } from './bundle.mjs';

const PAGE = path.join('docs', 'reference', 'feature-gates.md');

const { gatesPage } = await loadSource('src/options/gates-page.ts');
fs.mkdirSync(path.dirname(PAGE), { recursive: true });
fs.writeFileSync(PAGE, gatesPage());
