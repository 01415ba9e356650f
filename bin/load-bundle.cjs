// Runs a bundle, the server's or the store's, with V8's compiled code from last time, which halves the time to load it. The cache is
// only a help: whatever goes wrong with it, the bundle runs without.
'use strict';
const { isAscii } = require('node:buffer');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const vm = require('node:vm');

/** `bundle`: its file, which lies in dist. */
module.exports = function loadBundle(bundle) {
  const bytes = fs.readFileSync(bundle);
  // One character beyond Latin-1 would make every character of the text twice as large.
  const source = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  const key = createHash('sha1').update(bytes).update(process.arch).digest('hex');
  // Each Node.js has its own, so that two that are used by turns do not remove each other's.
  const prefix = `${path.basename(bundle, '.cjs')}.${process.version}.`;
  const name = `${prefix}${key.slice(0, 16)}.v8`;
  const folders = [path.dirname(bundle), ...userCacheFolder()];

  const script = new vm.Script(wrapped, { filename: bundle, cachedData: readCache() });
  const module_ = { exports: {} };
  const run = script.runInThisContext();
  run.call(module_.exports, module_.exports, createRequire(bundle), module_, bundle, path.dirname(bundle));
  // Whoever makes requests meanwhile, so that their code is compiled, too, may want it later (tools/warm.mjs).
  const afterMs = Number(process.env.BINNACLE_CACHE_AFTER_MS ?? 2000);
  if (script.cachedDataRejected !== false) setTimeout(writeCache, afterMs).unref();

  /** Where the package's own folder belongs to somebody else: none without an absolute path, as in a unit without a home. */
  function userCacheFolder() {
    const { XDG_CACHE_HOME: given, HOME: home } = process.env;
    const base = given?.startsWith('/') ? given : home?.startsWith('/') ? path.join(home, '.cache') : undefined;
    return base === undefined ? [] : [path.join(base, 'binnacle')];
  }

  function readCache() {
    for (const folder of folders) {
      try {
        const file = path.join(folder, name);
        if (folder === folders[0] || isOurs(folder, file)) return fs.readFileSync(file);
      } catch {
        // The next folder may have it.
      }
    }
    return undefined;
  }

  /** Compiled code runs as it is: what another user could have written there is not used, as under sudo with a user's HOME. */
  function isOurs(...paths) {
    return paths.every((each) => {
      const { uid, mode } = fs.lstatSync(each);
      return uid === process.geteuid?.() && (mode & 0o022) === 0;
    });
  }

  /** After a while, when the functions that a start needs have been compiled. */
  function writeCache() {
    const compiled = script.createCachedData();
    for (const folder of folders) {
      try {
        fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
        for (const old of fs.readdirSync(folder)) {
          if (old.startsWith(prefix) && old.endsWith('.v8')) fs.rmSync(path.join(folder, old), { force: true });
        }
        const temporary = path.join(folder, `${name}.${process.pid}`);
        fs.writeFileSync(temporary, compiled, { mode: 0o644 });
        fs.renameSync(temporary, path.join(folder, name));
        return;
      } catch {
        // Where no folder can be written, the next start is without the cache.
      }
    }
  }
};
