// Bundles the server into one CommonJS file: one file to read and compile at start.
import { build } from 'esbuild';
import { buildStamp } from './build-stamp.mjs';
import { bundleOptions } from './bundle.mjs';

const at = process.argv.indexOf('--outdir');
await build({
  ...bundleOptions,
  entryPoints: { binnacle: 'src/main.ts' },
  outdir: at < 0 ? 'dist' : process.argv[at + 1],
  // import() becomes require(): code that V8 compiled before and kept cannot import().
  supported: { 'dynamic-import': false },
  define: { BUILD_STAMP: JSON.stringify(buildStamp()) },
  sourcemap: 'linked',
});
