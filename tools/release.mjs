// Makes what a release consists of: the npm package, on Debian also its package and the container image, a bill of materials,
// the licences of others, and their checksums.
//
//   node tools/release.mjs [--out DIR]    into release/; the tree is clean and CHANGELOG.md has a section of the version
//   node tools/release.mjs --draft        of whatever is there, without building anew: to look at, or for tests
//
// The same commit gives the same bytes, but for V8's compiled code in the image. Nothing is published: that is for somebody to decide, with `npm publish FILE`, when
// `private` is gone from package.json.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { installed, sbomOf } from './sbom.mjs';
import { licensesText } from './third-party-licenses.mjs';

const SEMANTIC_VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;

const args = process.argv.slice(2);
const isDraft = args.includes('--draft');
const out = path.resolve(args.includes('--out') ? args[args.indexOf('--out') + 1] : 'release');
const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
const { name, version } = JSON.parse(fs.readFileSync('package.json', 'utf8'));

const obstacles = findObstacles();
if (obstacles.length > 0) {
  for (const obstacle of obstacles) console.error(obstacle);
  process.exit(1);
}
const epoch = git('log', '-1', '--format=%ct');
if (!isDraft) run('npm', ['run', '-s', 'build'], { SOURCE_DATE_EPOCH: epoch });
fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(out, { recursive: true });
run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', out], {});
if (!isDraft && fs.existsSync('/usr/bin/dpkg-deb')) {
  for (const tool of ['debian', 'image']) {
    run('node', [`tools/package-${tool}.mjs`, '--out', out], { SOURCE_DATE_EPOCH: epoch });
  }
}
const bundled = JSON.parse(fs.readFileSync('dist/bundled-packages.json', 'utf8'));
const timestamp = new Date(Number(epoch) * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
write('sbom.cdx.json', `${JSON.stringify(sbomOf({ lock, bundled, timestamp }), undefined, 2)}\n`);
// Of what an install brings, the builds for other platforms are not on this machine; they are under lmdb's own licence.
const present = [...bundled, ...installed(lock)].filter((folder) => fs.existsSync(folder));
write('third-party-licenses.txt', licensesText([...new Set(present)].sort((a, b) => (a < b ? -1 : 1))));
const files = fs.readdirSync(out).sort((a, b) => (a < b ? -1 : 1));
fs.writeFileSync(path.join(out, 'SHA256SUMS'), files.map((file) => `${sha256(file)}  ${file}\n`).join(''));
for (const file of [...files, 'SHA256SUMS']) console.log(`${fs.statSync(path.join(out, file)).size}\t${file}`);

function findObstacles() {
  const found = [];
  if (!SEMANTIC_VERSION.test(version)) found.push(`${version} in package.json is not a semantic version`);
  if (lock.version !== version) found.push('package-lock.json has another version: run npm install');
  if (isDraft) return found;
  if (git('status', '--porcelain') !== '') found.push('the tree has changes that are not committed');
  const changelog = fs.readFileSync('CHANGELOG.md', 'utf8').split('\n');
  if (!changelog.some((line) => line.startsWith(`## [${version}] - `))) {
    found.push(`CHANGELOG.md has no section "## [${version}] - (date)"`);
  }
  return found;
}

function write(suffix, text) {
  fs.writeFileSync(path.join(out, `${name}-${version}-${suffix}`), text);
}

function sha256(file) {
  return createHash('sha256')
    .update(fs.readFileSync(path.join(out, file)))
    .digest('hex');
}

function git(...words) {
  return execFileSync('git', words, { encoding: 'utf8' }).trim();
}

function run(command, words, env) {
  execFileSync(command, words, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } });
}
