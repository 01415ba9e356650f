import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CommandFailure } from './command.js';
import { mergeKubeconfig } from './merge-kubeconfig.js';

const own = (server: string): string => `apiVersion: v1
kind: Config
clusters: [{ name: binnacle, cluster: { server: "${server}", certificate-authority-data: YQ== } }]
users: [{ name: admin, user: { client-certificate-data: Yg==, client-key-data: Yw== } }]
contexts: [{ name: binnacle, context: { cluster: binnacle, user: admin } }]
current-context: binnacle
`;

describe('merging a kubeconfig', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-merge-'));
    file = path.join(folder, 'new', 'config');
  });
  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));
  const merge = (server: string, isCurrent = true): void =>
    mergeKubeconfig({ own: own(server), file, name: 'mine', isCurrent });

  it('makes a file for its owner alone', () => {
    merge('https://127.0.0.1:1');
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    assert.equal(
      fs.readFileSync(file, 'utf8'),
      `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: YQ==
    server: https://127.0.0.1:1
  name: mine
contexts:
- context:
    cluster: mine
    user: mine
  name: mine
current-context: mine
kind: Config
preferences: {}
users:
- name: mine
  user:
    client-certificate-data: Yg==
    client-key-data: Yw==
`,
    );
    assert.deepEqual(fs.readdirSync(path.dirname(file)), ['config']);
  });

  it('keeps what others wrote, and replaces its own', () => {
    fs.mkdirSync(path.dirname(file));
    fs.writeFileSync(
      file,
      `kind: Config
extensions: [{ name: x }]
clusters: [{ name: other, cluster: { server: https://other } }]
users: null
contexts: [{ name: other, context: { cluster: other, user: "" } }]
current-context: other
`,
    );
    merge('https://127.0.0.1:1', false);
    merge('https://127.0.0.1:2', false);
    const text = fs.readFileSync(file, 'utf8');
    assert.match(text, /^current-context: other$/m);
    assert.match(text, /server: https:\/\/other$/m);
    assert.match(text, /^extensions:\n- name: x$/m);
    assert.deepEqual(text.match(/server: https:\/\/127\S+/g), ['server: https://127.0.0.1:2']);
    merge('https://127.0.0.1:3');
    assert.match(fs.readFileSync(file, 'utf8'), /^current-context: mine$/m);
  });

  it('writes through a symbolic link', () => {
    fs.mkdirSync(path.dirname(file));
    fs.writeFileSync(path.join(folder, 'real'), '');
    fs.symlinkSync('../real', file);
    merge('https://127.0.0.1:1');
    assert.equal(fs.lstatSync(file).isSymbolicLink(), true);
    assert.match(fs.readFileSync(path.join(folder, 'real'), 'utf8'), /name: mine/);
  });

  it('refuses what is no kubeconfig, and a file that another program is writing, and changes nothing', () => {
    fs.mkdirSync(path.dirname(file));
    for (const text of ['- a list\n', 'kind: Pod\n', 'clusters: 7\n', 'a: {\n']) {
      fs.writeFileSync(file, text);
      assert.throws(() => merge('https://127.0.0.1:1'), CommandFailure, text);
      assert.equal(fs.readFileSync(file, 'utf8'), text);
    }
    fs.writeFileSync(file, '');
    fs.writeFileSync(`${file}.lock`, '');
    assert.throws(() => merge('https://127.0.0.1:1'), /config\.lock is there/);
    assert.deepEqual(fs.readdirSync(path.dirname(file)), ['config', 'config.lock']);
  });
});
