// Puts the built program and the libraries it loads into a folder, as packages for systems have it: in the versions of
// package-lock.json, which are in node_modules already, without what only compiling them would need.
import fs from 'node:fs';
import path from 'node:path';
import { installed } from './sbom.mjs';

/** Of lmdb and what it needs: sources in C, types, tests and texts, and builds for another C library. */
const LEFT_OUT = /\/(?:dependencies|src|test|tests|benchmark|util)(?:\/|$)|\.(?:d\.[cm]?ts|map|md|gyp)$|musl\.node$/;
/** A faster way to read records that the store does not have, and what compiling takes. */
const NOT_LOADED = ['node-addon-api', 'msgpackr-extract'];

export function stageProgram(folder) {
  fs.mkdirSync(path.join(folder, 'dist'), { recursive: true });
  fs.cpSync('bin', path.join(folder, 'bin'), { recursive: true });
  fs.copyFileSync('package.json', path.join(folder, 'package.json'));
  for (const name of fs.readdirSync('dist').filter((each) => /\.(?:cjs|txt)$/.test(each))) {
    fs.copyFileSync(path.join('dist', name), path.join(folder, 'dist', name));
  }
  for (const each of libraryFolders()) {
    fs.cpSync(each, path.join(folder, each), {
      recursive: true,
      filter: (file) => !LEFT_OUT.test(file.slice(each.length)),
    });
  }
}

/** Those that are for this platform; the others are not in node_modules. */
export function libraryFolders() {
  const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
  return installed(lock).filter((folder) => fs.existsSync(folder) && !NOT_LOADED.some((name) => folder.includes(name)));
}
