// How source becomes code that runs, the same for the server, its tests and the tools that call into it.
import { build } from 'esbuild';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/**
 * lmdb's JavaScript is part of the bundle, so that it is compiled ahead with it; its native binding is not, and is found from
 * the package's own folder. What encodes its values otherwise than as bytes is left out: nobody here does, and it would take
 * as long to load as all the rest of it. So is a call that has each value compressed by another thread ahead of the one that
 * writes, which compresses what nobody has: waking that thread costs more than compressing a usual value. And what is read in
 * one turn of the event loop ends with it, in place of a millisecond later: setting a timer costs half as much as to read, and
 * wakes an idle process.
 */
function bundledEngine() {
  const own = `const engineFile = require('node:module').createRequire(__filename).resolve('lmdb');\n`;
  return {
    name: 'engine',
    setup(plugin) {
      plugin.onLoad({ filter: /[\\/]lmdb[\\/]dist[\\/]index\.cjs$/ }, ({ path: file }) => ({
        contents: own + changed(fs.readFileSync(file, 'utf8')),
      }));
      plugin.onResolve({ filter: /^msgpackr$/ }, () => ({ path: 'msgpackr', namespace: 'left-out' }));
      plugin.onLoad({ filter: /^msgpackr$/, namespace: 'left-out' }, () => ({
        contents: 'exports.Encoder = undefined;',
      }));
      plugin.onResolve({ filter: /^bun:/ }, () => ({ external: true }));
    },
  };
}

const ENGINE_CHANGES = [
  [/if \(!writeTxn\)\s+compress\(env\.address, [^;]*?\{[^}]*\}\);/, ''],
  [/readTxnRenewed = setTimeout\(resetReadTxn, 0\);/, 'readTxnRenewed = setImmediate(resetReadTxn);'],
  [/__filename/g, 'engineFile'],
];

function changed(engine) {
  return ENGINE_CHANGES.reduce((text, [from, to]) => {
    if (text.search(from) < 0) throw new Error(`lmdb has no ${from} any more: see bundle.mjs`);
    return text.replace(from, to);
  }, engine);
}

export const bundleOptions = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  // js-yaml's CommonJS build is several times faster than its ESM build on Node 20.
  mainFields: ['main', 'module'],
  conditions: ['require', 'node'],
  external: [],
  plugins: [bundledEngine()],
  inject: [path.join(import.meta.dirname, 'node-globals.mjs')],
  logLevel: 'warning',
};

/** What the given modules of src/ export, together, for a tool to call. */
export async function loadSource(...modules) {
  const file = await bundleSource(...modules);
  try {
    return createRequire(import.meta.url)(file);
  } finally {
    fs.rmSync(file);
  }
}

/** The same as one file, for a process of its own. It lies inside the repository, so that it resolves node_modules. */
export async function bundleSource(...modules) {
  const outfile = path.resolve('.cache', `source-${process.pid}-${Date.now()}.cjs`);
  await build({
    ...bundleOptions,
    outExtension: undefined,
    stdin: {
      contents: modules.map((module) => `export * from './${module}';`).join('\n'),
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    outfile,
  });
  return outfile;
}
