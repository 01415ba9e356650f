// What a release consists of, made from the build that is there.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly scope: string;
  readonly hashes: readonly { readonly content: string }[];
  readonly properties: readonly { readonly value: string }[];
}
interface Sbom {
  readonly bomFormat: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: { readonly 'bom-ref': string; readonly version: string } };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

describe('a release', { timeout: 60_000 }, () => {
  const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8')) as { version: string };
  let folder: string;
  let sbom: Sbom;
  const make = (to: string): void => {
    execFileSync(process.execPath, ['tools/release.mjs', '--draft', '--out', to], { stdio: 'ignore' });
  };
  const named = (suffix: string): string => `binnacle-${version}${suffix}`;
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-release-'));
    make(path.join(folder, 'a'));
    sbom = JSON.parse(fs.readFileSync(path.join(folder, 'a', named('-sbom.cdx.json')), 'utf8')) as Sbom;
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('has checksums of all its files, and is the same when it is made again', () => {
    const sums = fs.readFileSync(path.join(folder, 'a', 'SHA256SUMS'), 'utf8');
    assert.deepEqual(
      sums.split('\n').map((line) => line.slice(66)),
      [named('-sbom.cdx.json'), named('-third-party-licenses.txt'), named('.tgz'), ''],
    );
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: path.join(folder, 'a'), stdio: 'ignore' });
    make(path.join(folder, 'b'));
    assert.equal(fs.readFileSync(path.join(folder, 'b', 'SHA256SUMS'), 'utf8'), sums);
  });

  it('is made of a clean tree whose changelog has the version, and of nothing else', () => {
    const at = path.join(folder, 'checkout');
    fs.mkdirSync(at);
    const git = (...words: string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.test', ...words], {
        cwd: at,
        encoding: 'utf8',
      });
    for (const name of ['package.json', 'package-lock.json']) fs.copyFileSync(name, path.join(at, name));
    fs.writeFileSync(path.join(at, 'CHANGELOG.md'), '## [Unreleased]\n');
    git('init', '-q');
    const obstacles = (): string =>
      spawnSync(process.execPath, [path.resolve('tools/release.mjs')], { cwd: at, encoding: 'utf8' }).stderr;
    const noSection = `CHANGELOG.md has no section "## [${version}] - (date)"\n`;
    assert.equal(obstacles(), `the tree has changes that are not committed\n${noSection}`);
    git('add', '.');
    git('commit', '-qm', 'all');
    assert.equal(obstacles(), noSection);
    const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8')) as object;
    fs.writeFileSync(path.join(at, 'package-lock.json'), JSON.stringify({ ...lock, version: '0.0.1' }));
    assert.match(obstacles(), /^package-lock\.json has another version: run npm install$/m);
    assert.deepEqual(fs.readdirSync(at).includes('release'), false);
  });

  it('lists what is in it and what an install brings, and nothing that only developers need', () => {
    assert.equal(sbom.bomFormat, 'CycloneDX');
    assert.equal(sbom.metadata.component.version, version);
    assert.match(sbom.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    const bundled = (wanted: string): string[] =>
      sbom.components.filter(({ properties }) => properties[0]?.value === wanted).map(({ name }) => name);
    assert.ok(bundled('true').includes('js-yaml'));
    assert.ok(bundled('true').includes('lmdb'));
    assert.ok(bundled('false').includes('@lmdb/lmdb-linux-x64'));
    for (const name of ['esbuild', 'typescript', 'fast-check']) {
      assert.equal(
        sbom.components.some((component) => component.name === name),
        false,
        name,
      );
    }
    for (const { hashes } of sbom.components) assert.match(hashes[0]?.content ?? '', /^[0-9a-f]{128}$/);
  });

  it('says of each part what it needs, by references that are there', () => {
    const refs = new Set([sbom.metadata.component['bom-ref'], ...sbom.components.map((one) => one['bom-ref'])]);
    assert.equal(sbom.dependencies.length, refs.size);
    for (const { ref, dependsOn } of sbom.dependencies)
      for (const each of [ref, ...dependsOn]) assert.ok(refs.has(each), each);
    const needed = new Set(sbom.dependencies.flatMap(({ dependsOn }) => dependsOn));
    assert.deepEqual(
      sbom.components.filter((one) => !needed.has(one['bom-ref'])).map(({ name }) => name),
      [],
    );
  });

  it('has a licence text for what it contains', () => {
    const text = fs.readFileSync(path.join(folder, 'a', named('-third-party-licenses.txt')), 'utf8');
    for (const name of ['js-yaml', 'lmdb', 'ws'])
      assert.match(text, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'));
  });
});
