// A bundle for each group of test files, in which each file stands behind a function that loads it. They are built at
// once, so that source that many of them import is parsed once; a process reads what its own files import, and no more.
// The bundles lie inside the repository, so that they resolve node_modules.
import { build } from 'esbuild';
import path from 'node:path';
import { bundleOptions } from '../bundle.mjs';

/** Packages that are large, or that look for files beside their own. */
const EXTERNAL = ['esbuild', 'protobufjs', 'fast-check', 'oidc-provider'];
const GROUP = 'group:';

/** Returns the groups, lists of files, as `{ files, bundle }`. */
export async function bundleTests(groups, folder) {
  const nameOf = (index) => `group-${index}`;
  await build({
    ...bundleOptions,
    external: [...bundleOptions.external, ...EXTERNAL],
    plugins: [...bundleOptions.plugins, groupEntries(groups)],
    entryPoints: Object.fromEntries(groups.map((_, index) => [nameOf(index), `${GROUP}${index}`])),
    outdir: folder,
    sourcemap: 'linked',
    sourcesContent: false,
  });
  return groups.map((files, index) => ({ files, bundle: path.join(folder, `${nameOf(index)}.cjs`) }));
}

function groupEntries(groups) {
  return {
    name: 'groups',
    setup(plugin) {
      plugin.onResolve({ filter: new RegExp(`^${GROUP}`) }, ({ path: id }) => ({ path: id, namespace: 'group' }));
      plugin.onLoad({ filter: /./, namespace: 'group' }, ({ path: id }) => ({
        contents: loaders(groups[Number(id.slice(GROUP.length))]),
        resolveDir: process.cwd(),
        loader: 'js',
      }));
    },
  };
}

function loaders(files) {
  const members = files.map(({ name }) => `${JSON.stringify(name)}: () => require(${JSON.stringify(`./${name}`)}),`);
  return `export const load = {\n${members.join('\n')}\n};`;
}
