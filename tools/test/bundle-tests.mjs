// All test files of a run in one bundle, each behind a function that loads it: source that many of them import is parsed,
// bundled and read once. The bundle lies inside the repository, so that it resolves node_modules.
import { build } from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';
import { bundleOptions } from '../bundle.mjs';

/** Packages that are large, or that look for files beside their own. */
const EXTERNAL = ['esbuild', 'protobufjs', 'fast-check', 'oidc-provider'];

export async function bundleTests(names, outfile) {
  const loaders = names.map((name) => `${JSON.stringify(name)}: () => require(${JSON.stringify(`./${name}`)}),`);
  fs.mkdirSync(path.dirname(outfile), { recursive: true });
  await build({
    ...bundleOptions,
    outExtension: undefined,
    external: [...bundleOptions.external, ...EXTERNAL],
    stdin: { contents: `export const load = {\n${loaders.join('\n')}\n};`, resolveDir: process.cwd(), loader: 'js' },
    outfile,
    sourcemap: 'linked',
    sourcesContent: false,
  });
}
