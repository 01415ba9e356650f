// Bundles the server into one CommonJS file: one file to read and compile at start. What its thread for large objects
// runs is another: the kinds and the codecs, and nothing that serves. The other commands are a third, small one. Beside them
// lies what documents say of types.
import { build } from 'esbuild';
import { isAscii } from 'node:buffer';
import fs from 'node:fs';
import path from 'node:path';
import { buildStamp } from './build-stamp.mjs';
import { bundleOptions, loadSource } from './bundle.mjs';
import { bundledPackages, licensesText } from './third-party-licenses.mjs';

const at = process.argv.indexOf('--outdir');
const outdir = at < 0 ? 'dist' : process.argv[at + 1];
const { metafile } = await build({
  ...bundleOptions,
  entryPoints: {
    binnacle: 'src/main.ts',
    commands: 'src/commands/main.ts',
    worker: 'src/server/worker/worker-thread.ts',
  },
  outdir,
  // import() becomes require(): code that V8 compiled before and kept cannot import().
  supported: { 'dynamic-import': false },
  define: { BUILD_STAMP: JSON.stringify(buildStamp()) },
  sourcemap: 'linked',
  metafile: true,
});

// One character beyond ASCII makes V8 keep the whole text in two bytes a character, and every start slower. Strings are
// escaped by esbuild; regular expressions are not.
if (!isAscii(fs.readFileSync(path.join(outdir, 'binnacle.cjs')))) {
  console.error('the bundle has characters beyond ASCII: write them as \\u… in regular expressions');
  process.exit(1);
}

// What OpenAPI documents say of built-in types: encoding all of them takes longer than all the rest of a document.
const { encodeCatalogue } = await loadSource('src/schema/openapi/encoded-catalogue.ts');
for (const form of ['v2', 'v3']) {
  fs.writeFileSync(path.join(outdir, `definitions-${form}.txt`), encodeCatalogue({ form, enums: true }));
}

// What an earlier build called otherwise would be packed with the rest.
const made = new Set(Object.keys(metafile.outputs).map((file) => path.basename(file)));
for (const name of fs.readdirSync(outdir)) {
  if (/\.cjs(?:\.map)?$/.test(name) && !made.has(name)) fs.rmSync(path.join(outdir, name));
}

const packages = bundledPackages(Object.keys(metafile.inputs));
fs.writeFileSync(path.join(outdir, 'third-party-licenses.txt'), licensesText(packages));
// For the bill of materials of a release; not in the package.
fs.writeFileSync(path.join(outdir, 'bundled-packages.json'), JSON.stringify(packages));
