import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChain } from './chain.js';
import type { AdmissionPlugin, AdmissionWork } from './plugin.js';
import { testAttributes } from './test-attributes.js';

test('stops at the first refusal and observes how long each plugin took', async () => {
  const seen: string[] = [];
  const observed: string[] = [];
  const chain = createChain([plugin('a', seen), plugin('b', seen, 'refuses'), plugin('c', seen)], {
    plugin: (name, type, operation) => (rejected) => observed.push([name, type, operation, rejected].join(' ')),
    step: (type, operation) => (rejected) => observed.push([type, operation, rejected].join(' ')),
  });
  assert.throws(() => chain.validate(testAttributes({ resource: 'pods', object: { metadata: {} } })), /no/);
  assert.deepEqual(seen, ['a', 'b']);
  assert.deepEqual(observed, ['a validate CREATE false', 'b validate CREATE true', 'validate CREATE true']);
  await chain.validate(testAttributes({ resource: 'pods', old: { metadata: {} } }));
  await chain.admit(testAttributes({ resource: 'pods', object: { metadata: {} } }));
  assert.deepEqual(seen, ['a', 'b']);
  assert.deepEqual(observed.slice(3), ['validate UPDATE false', 'admit CREATE false']);
});

test('waits where a plugin waits, and then goes on in order', async () => {
  for (const refuses of [false, true]) {
    const seen: string[] = [];
    const observed: string[] = [];
    const chain = createChain(
      [plugin('a', seen), plugin('b', seen, refuses ? 'refuses late' : 'waits'), plugin('c', seen, 'waits')],
      {
        plugin: (name) => (rejected) => observed.push(`${name} ${rejected}`),
        step: () => (rejected) => observed.push(`step ${rejected}`),
      },
    );
    const validated = chain.validate(testAttributes({ resource: 'pods', object: { metadata: {} } }));
    assert.deepEqual(seen, ['a', 'b begins']);
    assert.ok(validated instanceof Promise);
    if (refuses) await assert.rejects(validated, /no/);
    else await validated;
    assert.deepEqual(seen, refuses ? ['a', 'b begins'] : ['a', 'b begins', 'b', 'c begins', 'c']);
    const expected = refuses ? ['a false', 'b true', 'step true'] : ['a false', 'b false', 'c false', 'step false'];
    assert.deepEqual(observed, expected);
  }
});

test('runs the plugins that mutate once more when one requests it, and never a third time', async () => {
  for (const waits of [false, true]) {
    const seen: string[] = [];
    const admits = (name: string, work: AdmissionWork): AdmissionPlugin => ({ name, handles: () => true, admit: work });
    const chain = createChain([
      admits('first', (_attributes, round) => void seen.push(`first ${round.again}`)),
      admits('asks', (_attributes, round) => {
        const notes = round.notes('asks', () => ({ calls: 0 }));
        seen.push(`asks ${++notes.calls}`);
        round.requestReinvocation();
        return waits ? Promise.resolve() : undefined;
      }),
    ]);
    await chain.admit(testAttributes({ resource: 'pods', object: { metadata: {} } }));
    assert.deepEqual(seen, ['first false', 'asks 1', 'first true', 'asks 2']);
  }
});

type Behaviour = 'passes' | 'refuses' | 'waits' | 'refuses late';

function plugin(name: string, seen: string[], behaviour: Behaviour = 'passes'): AdmissionPlugin {
  return {
    name,
    handles: (operation) => operation === 'CREATE',
    validate() {
      if (behaviour === 'waits' || behaviour === 'refuses late') {
        seen.push(`${name} begins`);
        return new Promise((resolve, reject) =>
          setImmediate(() => {
            if (behaviour === 'refuses late') return reject(new Error('no'));
            seen.push(name);
            resolve();
          }),
        );
      }
      seen.push(name);
      if (behaviour === 'refuses') throw new Error('no');
    },
  };
}
