import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fieldName, type Topic } from './flag-table.js';
import { TOPICS } from './topics.js';

const SOURCES = path.join(process.env['BINNACLE_ROOT'] ?? process.cwd(), 'src');
/** A file that only validates a flag does not make it effective. */
const CHECKS =
  /^(options\/(flags\/|validate\/|validate-options|startup-checks|option-warnings)|server\/configuration-hooks)/;

/** Accepted for the sake of command lines that have them, and why they do nothing. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  'audit-log-version': 'only audit.k8s.io/v1 is accepted',
  'audit-webhook-version': 'only audit.k8s.io/v1 is accepted',
  'default-watch-cache-size': 'kube-apiserver ignores it: caches grow as they are used',
  'kubelet-read-only-port': 'kube-apiserver ignores it: nothing connects to it any more',
  'kubelet-timeout': 'kube-apiserver ignores it: requests to a kubelet have no timeout',
  'permit-address-sharing': 'Node listens so always',
};

test('every flag has somebody who reads it, or a reason why nobody does', () => {
  const words = new Set<string>();
  for (const name of fs.readdirSync(SOURCES, { recursive: true }) as string[]) {
    const file = name.split(path.sep).join('/');
    if (!file.endsWith('.ts') || file.endsWith('.test.ts') || CHECKS.test(file)) continue;
    for (const [word] of fs.readFileSync(path.join(SOURCES, name), 'utf8').matchAll(/\w+/g)) words.add(word);
  }
  const unread = (TOPICS as readonly Topic[]).flatMap(({ flags }) =>
    Object.entries(flags).flatMap(([flag, { type }]) => (words.has(fieldName(flag, type)) ? [] : [flag])),
  );
  assert.deepEqual(unread.sort(), Object.keys(WITHOUT_EFFECT).sort());
});
