// Writes docs/reference/flags.md from the tables of flags in src/options/flags/.
//
//   node tools/generate-flag-docs.mjs            writes the page
//   node tools/generate-flag-docs.mjs --check    fails when the page is not what the tables say
import { build } from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const PAGE = path.join('docs', 'reference', 'flags.md');

fs.mkdirSync('.cache', { recursive: true });
const folder = fs.mkdtempSync(path.join('.cache', 'flag-docs-'));
try {
  const bundle = path.join(folder, 'flags-page.mjs');
  await build({
    entryPoints: ['src/options/flags-page.ts'],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  });
  const { flagsPage } = await import(pathToFileURL(path.resolve(bundle)).href);
  const wanted = flagsPage();
  if (!process.argv.includes('--check')) {
    fs.mkdirSync(path.dirname(PAGE), { recursive: true });
    fs.writeFileSync(PAGE, wanted);
  } else if (!fs.existsSync(PAGE) || fs.readFileSync(PAGE, 'utf8') !== wanted) {
    console.error(`${PAGE} is not what the tables of flags say: run node tools/generate-flag-docs.mjs`);
    process.exitCode = 1;
  }
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
