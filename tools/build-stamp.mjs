// What a bundle tells of its making: which version, when, and from which commit. Nothing of the commit where this is not
// a checkout. package.json is the one place of the version.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

export function buildStamp() {
  const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
  return { version, ...source(), date: buildDate() };
}

/** To the second; SOURCE_DATE_EPOCH makes two builds of one commit the same. */
function buildDate() {
  const epoch = process.env.SOURCE_DATE_EPOCH;
  const ms = epoch === undefined ? Date.now() : Number(epoch) * 1000;
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

function source() {
  try {
    // A package unpacked inside somebody's own checkout is not of their commit.
    const isOwn = fs.realpathSync(git('rev-parse', '--show-toplevel')) === fs.realpathSync(process.cwd());
    if (!isOwn) return { commit: '', treeState: '' };
    return { commit: git('rev-parse', 'HEAD'), treeState: git('status', '--porcelain') === '' ? 'clean' : 'dirty' };
  } catch {
    return { commit: '', treeState: '' };
  }
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
