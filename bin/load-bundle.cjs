// Runs a bundle, the server's or the store's, with V8's compiled code from last time, which halves the time to load it. The cache is
// only a help: whatever goes wrong with it, the bundle runs without.
'use strict';
const { isAscii } = require('node:buffer');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');

const HEAD = '(function (exports, require, module, __filename, __dirname) {';
const TAIL = '\n})';
/** The end of a bundle: a digest of all before it, which tools/build.mjs puts there, so that no start has to compute it. */
const DIGEST = /\n\/\/ digest: ([0-9a-f]{16})\n$/;
const DIGEST_BYTES = 29;
/**
 * A start grows no young generation that a server would not need; later the server sets how it grows (young-generation.ts). Flags
 * are part of the key of compiled code, so that it is read and written under the same.
 */
const YOUNG_GROWTH = '--semi-space-growth-factor=1';

/** `bundle`: its file, which lies in dist. `cacheAtExit`: a process that served and ends early keeps its compiled code, too. */
module.exports = function loadBundle(bundle, { cacheAtExit = false } = {}) {
  v8.setFlagsFromString(YOUNG_GROWTH);
  const bytes = readWrapped(bundle);
  // One character beyond Latin-1 would make every character of the text twice as large.
  const wrapped = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
  const digest = DIGEST.exec(wrapped.slice(-TAIL.length - DIGEST_BYTES, -TAIL.length))?.[1];
  // Each Node.js has its own, so that two that are used by turns do not remove each other's.
  const prefix = `${path.basename(bundle, '.cjs')}.${process.version}.`;
  const name = `${prefix}${process.arch}-${bytes.length.toString(16)}-${digest}.v8`;
  const folders = [path.dirname(bundle), ...userCacheFolder()];

  const script = new vm.Script(wrapped, { filename: bundle, cachedData: digest && readCache() });
  let isWritten = false;
  const module_ = { exports: {} };
  const run = script.runInThisContext();
  run.call(module_.exports, module_.exports, createRequire(bundle), module_, bundle, path.dirname(bundle));
  // Whoever makes requests meanwhile, so that their code is compiled, too, wants it at the end only (tools/warm.mjs).
  const after = process.env.BINNACLE_CACHE_AFTER_MS ?? '2000';
  if (digest !== undefined && script.cachedDataRejected !== false) {
    if (after !== 'exit') setTimeout(writeCache, Number(after)).unref();
    if (cacheAtExit || after === 'exit') process.once('exit', (code) => code === 0 && writeCache());
  }

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
    if (isWritten) return;
    isWritten = true;
    v8.setFlagsFromString(YOUNG_GROWTH);
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

/** As one text, without a second copy of a large one. */
function readWrapped(file) {
  const descriptor = fs.openSync(file);
  try {
    const { size } = fs.fstatSync(descriptor);
    const bytes = Buffer.allocUnsafeSlow(HEAD.length + size + TAIL.length);
    bytes.write(HEAD);
    let at = HEAD.length;
    for (let read; at < HEAD.length + size && (read = fs.readSync(descriptor, bytes, at, HEAD.length + size - at)) > 0;)
      at += read;
    return bytes.subarray(0, at + bytes.write(TAIL, at));
  } finally {
    fs.closeSync(descriptor);
  }
}
