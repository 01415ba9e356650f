// Writes docs/reference/flags.md from the tables of flags in src/options/flags/.
//
//   node tools/generate-flag-docs.mjs            writes the page
//   node tools/generate-flag-docs.mjs --check    fails when the page is not what the tables say
import fs from 'node:fs';
import path from 'node:path';
import { loadSource } from './bundle.mjs';

const PAGE = path.join('docs', 'reference', 'flags.md');

const { flagsPage } = await loadSource('src/options/flags-page.ts');
const wanted = flagsPage();
if (!process.argv.includes('--check')) {
  fs.mkdirSync(path.dirname(PAGE), { recursive: true });
  fs.writeFileSync(PAGE, wanted);
} else if (!fs.existsSync(PAGE) || fs.readFileSync(PAGE, 'utf8') !== wanted) {
  console.error(`${PAGE} is not what the tables of flags say: run node tools/generate-flag-docs.mjs`);
  process.exitCode = 1;
}
