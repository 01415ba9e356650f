import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { readManifests } from './read-manifests.js';

const names = (manifests: Parameters<typeof readManifests>[0]): (string | undefined)[] =>
  readManifests(manifests).map((object) => object.metadata?.name);
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

it('takes texts of several documents apart, with empty ones and comments between', () => {
  const text =
    '# first\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n--- # second\n\n---\n' +
    JSON.stringify(configMap('b'));
  assert.deepEqual(names(text), ['a', 'b']);
});

it('takes lists apart, lists within lists too', () => {
  const inner = { apiVersion: 'v1', kind: 'List', items: [configMap('b')] };
  assert.deepEqual(names({ apiVersion: 'v1', kind: 'ConfigMapList', items: [configMap('a'), inner] }), ['a', 'b']);
});

it('reads the files of a folder and of folders below it by their names, and nothing else there', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-manifests-'));
  try {
    fs.mkdirSync(path.join(folder, 'b'));
    fs.writeFileSync(path.join(folder, 'c.json'), JSON.stringify(configMap('c')));
    fs.writeFileSync(path.join(folder, 'b', 'b.yml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n');
    fs.writeFileSync(path.join(folder, 'a.yaml'), JSON.stringify(configMap('a')));
    fs.writeFileSync(path.join(folder, 'README.md'), '# not a manifest');
    assert.deepEqual(names([{ path: folder }, configMap('d')]), ['a', 'b', 'c', 'd']);
    assert.deepEqual(names({ path: path.join(folder, 'c.json') }), ['c']);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

it('says where what is wrong stands', () => {
  assert.throws(() => names('a: [1'), /^Error: the text: yaml: /);
  assert.throws(() => names('kind: ConfigMap'), /the text: a manifest needs apiVersion and kind/);
  assert.throws(() => names('just words'), /the text: a manifest needs apiVersion and kind/);
});
