// Bundles the server into one CommonJS file: one file to read and compile at start. What its thread for large objects
// runs is another: the kinds and the codecs, and nothing that serves. The other commands are a third, small one, and the
// library for tests is a fourth. Beside them lies what documents say of types.
import { build } from 'esbuild';
import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
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
    etcd: 'src/commands/etcd-main.ts',
    worker: 'src/server/worker/worker-thread.ts',
    testing: 'src/testkit/library/testing.ts',
  },
  outdir,
  // import() becomes require(): code that V8 compiled before and kept cannot import().
  supported: { 'dynamic-import': false },
  define: { BUILD_STAMP: JSON.stringify(buildStamp()) },
  banner: {
    js: '"use strict"; const __inheriting = (module) => Object.create(module, { default: { value: module } });',
  },
  sourcemap: 'linked',
  metafile: true,
});

// Each import of a module of Node's makes a copy of all that it exports, a getter for each: a start has 135 of them. What inherits
// from the module is as good.
const INTEROP = /__toESM\(require\("(node:[^"]+)"\)(?:, 1)?\)/g;
for (const file of Object.keys(metafile.outputs).filter((name) => name.endsWith('.cjs'))) {
  const text = fs.readFileSync(file, 'utf8').replace(INTEROP, '__inheriting(require("$1"))');
  // bin/load-bundle.cjs knows by it whether code that was compiled before is this bundle's.
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  fs.writeFileSync(file, `${text}// digest: ${digest}\n`);
}

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

// The library is one CommonJS file, which ES modules import by a few lines, and its declarations are a source file as it is.
fs.writeFileSync(path.join(outdir, 'testing.mjs'), "export { startCluster } from './testing.cjs';\n");
const declarations = `/// <reference lib="esnext.disposable" />
${fs.readFileSync('src/testkit/library/types.ts', 'utf8')}
/** Starts a throwaway cluster: an API server of its own, empty but for what every cluster has. */
export declare function startCluster(options?: ClusterOptions): Promise<Cluster>;
`;
for (const name of ['testing.d.mts', 'testing.d.cts']) fs.writeFileSync(path.join(outdir, name), declarations);

// What an earlier build called otherwise would be packed with the rest.
const made = new Set(Object.keys(metafile.outputs).map((file) => path.basename(file)));
for (const name of fs.readdirSync(outdir)) {
  if (/\.cjs(?:\.map)?$/.test(name) && !made.has(name)) fs.rmSync(path.join(outdir, name));
}

const packages = bundledPackages(Object.keys(metafile.inputs));
fs.writeFileSync(path.join(outdir, 'third-party-licenses.txt'), licensesText(packages));
// For the bill of materials of a release; not in the package.
fs.writeFileSync(path.join(outdir, 'bundled-packages.json'), JSON.stringify(packages));
