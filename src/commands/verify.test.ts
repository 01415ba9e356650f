import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openEmbeddedStore } from '../kv/embedded/embedded.js';
import { type Ended, runCommand } from './testing.js';

const object = (kind: string, name: string): Buffer =>
  Buffer.from(`{"kind":"${kind}","apiVersion":"v1","metadata":{"name":"${name}"}}`);

test('verify prints what a store has, and what of it is damaged or is no object', async (context) => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-verify-command-'));
  context.after(() => fs.rmSync(home, { recursive: true, force: true }));
  const folder = path.join(home, '.local', 'state', 'binnacle');
  const kv = await openEmbeddedStore({ folder });
  await kv.create('/registry/secrets/default/a', object('Secret', 'a'));
  await kv.create('/registry/secrets/default/b', object('Secret', 'b of many'));
  await kv.create('/registry/secrets/default/c', Buffer.from('k8s:enc:secretbox:v1:one:0123456789'));
  await kv.create(
    '/registry/example.com/things/x',
    Buffer.from('{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"x"}}'),
  );
  await kv.close();
  const run = (...args: string[]): Promise<Ended> => runCommand(['verify', ...args], { env: { HOME: home } });
  const sound = [
    'revision 5, 4 keys, 4 changes of history',
    '        1  /registry/example.com/things',
    '        3  /registry/secrets',
    '1 values are encrypted, and were not decoded',
    'sound',
    '',
  ].join('\n');
  for (const args of [[], [folder]]) assert.deepEqual(await run(...args), { code: 0, out: sound, err: '' });
  const again = await openEmbeddedStore({ folder });
  await again.create('/registry/pods/default/x', Buffer.from('{"kind":"Pod","apiVersion":"v1","spec":7}'));
  await again.create('/registry/pods/default/y', Buffer.from('{"metadata":{}}'));
  await again.close();
  const file = path.join(folder, 'store.mdb');
  fs.writeFileSync(file, Buffer.from(fs.readFileSync(file, 'latin1').replaceAll('b of many', 'b of none'), 'latin1'));
  const damaged = await run(folder);
  assert.equal(damaged.code, 1);
  assert.deepEqual(damaged.err.split('\n'), [
    'damaged: /registry/secrets/default/b (revision 3)',
    'cannot be decoded: /registry/pods/default/x (revision 6): json: cannot unmarshal number into Go struct field Pod.spec of type v1.PodSpec',
    'cannot be decoded: /registry/pods/default/y (revision 7): it does not say what kind of object it is',
    '',
  ]);
  const none = await run(path.join(home, 'none'));
  assert.deepEqual(none, { code: 1, out: '', err: `error: there is no store in ${path.join(home, 'none')}\n` });
  assert.equal((await run('--what')).code, 2);
});
