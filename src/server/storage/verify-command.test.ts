import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { openEmbeddedStore } from '../../kv/embedded/embedded.js';
import { runVerifyCommand } from './verify-command.js';

test('verify prints what a store has, and what of it is damaged', async (context) => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-verify-command-'));
  context.after(() => fs.rmSync(home, { recursive: true, force: true }));
  const folder = path.join(home, '.local', 'state', 'binnacle');
  const kv = await openEmbeddedStore({ folder });
  await kv.create('/registry/secrets/default/a', Buffer.from('{"data":"of a"}'));
  await kv.create('/registry/secrets/default/b', Buffer.from('{"data":"of b"}'));
  await kv.create('/registry/example.com/things/x', Buffer.from('{}'));
  await kv.close();
  const run = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
    let out = '';
    let err = '';
    const parts = {
      env: { HOME: home },
      print: (text: string) => (out += text),
      printError: (text: string) => (err += text),
    };
    const code = await runVerifyCommand(args, parts);
    return { code, out, err };
  };
  const sound = [
    'revision 4, 3 keys, 3 changes of history',
    '        1  /registry/example.com/things',
    '        2  /registry/secrets',
    'sound',
    '',
  ].join('\n');
  for (const args of [[], [folder]]) assert.deepEqual(await run(...args), { code: 0, out: sound, err: '' });
  const file = path.join(folder, 'store.mdb');
  fs.writeFileSync(file, Buffer.from(fs.readFileSync(file, 'latin1').replaceAll('"of b"', '"of c"'), 'latin1'));
  const damaged = await run(folder);
  assert.deepEqual([damaged.code, damaged.err], [1, 'damaged: /registry/secrets/default/b (revision 3)\n']);
  const none = await run(path.join(home, 'none'));
  assert.deepEqual(none, { code: 1, out: '', err: `error: there is no store in ${path.join(home, 'none')}\n` });
  assert.equal((await run('--what')).code, 2);
});
