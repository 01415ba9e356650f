// Fetches a newer Node.js than the one that runs this into .cache/node-<major>/bin, when it is missing, so that the
// tests can run on it too. The registry npm is set up for has it as a package for each platform, whose bytes npm checks.
//
//   node tools/fetch-node.mjs           the newest that Binnacle is held to
//   node tools/fetch-node.mjs 22
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const NEWEST = '24';

const major = process.argv[2] ?? NEWEST;
const target = path.join('.cache', `node-${major}`);
if (!fs.existsSync(path.join(target, 'bin', 'node'))) fetchNode(`node-${process.platform}-${process.arch}@${major}`);

function fetchNode(packageName) {
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-node-'));
  try {
    run('npm', ['pack', packageName, '--silent', '--pack-destination', work]);
    const archive = fs.readdirSync(work).find((name) => name.endsWith('.tgz'));
    run('tar', ['-xzf', path.join(work, archive), '-C', work, 'package/bin/node']);
    fs.mkdirSync(target, { recursive: true });
    // Copied beside and renamed, so that a half-copied program is never run: the folder may be on another disk.
    fs.cpSync(path.join(work, 'package', 'bin'), path.join(target, 'bin.new'), { recursive: true });
    fs.renameSync(path.join(target, 'bin.new'), path.join(target, 'bin'));
    const version = run(path.join(target, 'bin', 'node'), ['--version'])
      .toString()
      .trim();
    console.log(`fetched ${target}: ${version}`);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

function run(command, args) {
  return execFileSync(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
}
