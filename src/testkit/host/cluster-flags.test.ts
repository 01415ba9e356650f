import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clusterFlags } from './cluster-flags.js';

it('gives a cluster what one machine needs, and leaves what is wanted otherwise', () => {
  assert.deepEqual(clusterFlags([]), [
    '--bind-address=127.0.0.1',
    '--authorization-mode=Node,RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--allow-privileged=true',
    '--controllers=*',
  ]);
  const wanted = clusterFlags(['--controllers=namespace', '--authorization-mode=AlwaysAllow']);
  assert.deepEqual(
    wanted.filter((flag) => /controllers|authorization/.test(flag)),
    ['--controllers=namespace', '--authorization-mode=AlwaysAllow'],
  );
});

it('refuses flags of what a cluster has by itself, unknown flags, and words', () => {
  const refusal = (...flags: string[]) => ({ message: flags.pop() ?? '', status: 400 });
  assert.throws(
    () => clusterFlags(['--etcd-servers=http://127.0.0.1:2379']),
    refusal('a throwaway cluster takes no --etcd-servers: it keeps its objects in memory'),
  );
  assert.throws(() => clusterFlags(['--no-such-flag']), refusal('unknown flag: --no-such-flag'));
  assert.throws(() => clusterFlags(['word']), refusal('not a flag: word'));
});
