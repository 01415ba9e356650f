// Bundles the server into one CommonJS file: one file to read and compile at start.
import { build } from 'esbuild';

export const bundleOptions = {
  entryPoints: { binnacle: 'src/main.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  // js-yaml's CommonJS build is several times faster than its ESM build on Node 20.
  mainFields: ['main', 'module'],
  conditions: ['require', 'node'],
  // lmdb finds its native binding beside its own files.
  external: ['lmdb'],
  // import() becomes require(): code that V8 compiled before and kept cannot import().
  supported: { 'dynamic-import': false },
  sourcemap: 'linked',
  minify: false,
  logLevel: 'warning',
};

const at = process.argv.indexOf('--outdir');
await build(at < 0 ? bundleOptions : { ...bundleOptions, outdir: process.argv[at + 1] });
