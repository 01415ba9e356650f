import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type GraphKind, NodeGraph, objectKey } from './graph.js';

const NAMES = ['a', 'b', 'c'] as const;
const KINDS = ['secret', 'configmap', 'pvc', 'serviceaccount', 'resourceclaim'] as const;
const name = fc.constantFrom(...NAMES);
const keys = (kinds: readonly GraphKind[]) =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...kinds), name, name), { maxLength: 4 });

type Change =
  | { readonly type: 'pod'; readonly at: string; readonly node: string; readonly refers: readonly Key[] }
  | { readonly type: 'volume'; readonly at: string; readonly claim: string; readonly secrets: readonly Key[] }
  | { readonly type: 'attachment'; readonly at: string; readonly node: string }
  | { readonly type: 'no-pod' | 'no-volume' | 'no-attachment'; readonly at: string };
type Key = readonly [kind: GraphKind, namespace: string, name: string];

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ type: fc.constant('pod' as const), at: name, node: name, refers: keys(KINDS) }),
  fc.record({ type: fc.constant('volume' as const), at: name, claim: name, secrets: keys(['secret']) }),
  fc.record({ type: fc.constant('attachment' as const), at: name, node: name }),
  fc.record({ type: fc.constantFrom('no-pod' as const, 'no-volume' as const, 'no-attachment' as const), at: name }),
);

/** What is there, and nothing else: every question is answered by looking through all of it. */
class PlainModel {
  readonly pods = new Map<string, Extract<Change, { type: 'pod' }>>();
  readonly volumes = new Map<string, Extract<Change, { type: 'volume' }>>();
  readonly attachments = new Map<string, string>();

  apply(one: Change): void {
    if (one.type === 'pod') this.pods.set(one.at, one);
    else if (one.type === 'volume') this.volumes.set(one.at, one);
    else if (one.type === 'attachment') this.attachments.set(one.at, one.node);
    else if (one.type === 'no-pod') this.pods.delete(one.at);
    else if (one.type === 'no-volume') this.volumes.delete(one.at);
    else this.attachments.delete(one.at);
  }

  leadsTo(node: string, [kind, namespace, objectName]: Key): boolean {
    if (kind === 'pod') return namespace === 'a' && this.pods.get(objectName)?.node === node;
    if (kind === 'volumeattachment') return namespace === '' && this.attachments.get(objectName) === node;
    if (kind === 'pv') {
      const volume = namespace === '' ? this.volumes.get(objectName) : undefined;
      return volume !== undefined && this.leadsTo(node, ['pvc', 'a', volume.claim]);
    }
    const wanted = ([k, ns, n]: Key): boolean => k === kind && ns === namespace && n === objectName;
    if ([...this.pods.values()].some((pod) => pod.node === node && pod.refers.some(wanted))) return true;
    const mounting = [...this.volumes].filter(([, { secrets }]) => secrets.some(wanted));
    return mounting.some(([volume]) => this.leadsTo(node, ['pv', '', volume]));
  }
}

function applyTo(graph: NodeGraph, one: Change): void {
  const set = (list: readonly Key[]) => new Set(list.map((key) => objectKey(...key)));
  if (one.type === 'pod') graph.setPod('a', one.at, one.node, set(one.refers));
  else if (one.type === 'volume') graph.setVolume(one.at, objectKey('pvc', 'a', one.claim), set(one.secrets));
  else if (one.type === 'attachment') graph.attach('volumeattachment', '', one.at, one.node);
  else if (one.type === 'no-pod') graph.removePod('a', one.at);
  else if (one.type === 'no-volume') graph.removeVolume(one.at);
  else graph.detach('volumeattachment', '', one.at);
}

const QUESTIONS: readonly Key[] = NAMES.flatMap((n): Key[] => [
  ['pod', 'a', n],
  ['pod', 'b', n],
  ['pv', '', n],
  ['pv', 'a', n],
  ['volumeattachment', '', n],
  ...KINDS.flatMap((kind) => NAMES.map((namespace): Key => [kind, namespace, n])),
]);

test('whatever comes and goes, the graph leads where a plain look through everything would', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
      const graph = new NodeGraph();
      const model = new PlainModel();
      for (const one of changes) {
        applyTo(graph, one);
        model.apply(one);
      }
      for (const node of NAMES) {
        for (const key of QUESTIONS) {
          assert.equal(graph.leadsTo(node, ...key), model.leadsTo(node, key), `${node} ← ${key.join(' ')}`);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('when all is gone nothing is kept', () => {
  const graph = new NodeGraph();
  graph.setPod('a', 'p', 'n', new Set([objectKey('secret', 'a', 's'), objectKey('pvc', 'a', 'c')]));
  graph.setVolume('v', objectKey('pvc', 'a', 'c'), new Set([objectKey('secret', 'a', 't')]));
  graph.attach('resourceslice', '', 's', 'n');
  graph.removePod('a', 'p');
  graph.removeVolume('v');
  graph.attach('resourceslice', '', 's', '');
  for (const kept of Object.values(graph)) assert.equal((kept as Map<unknown, unknown>).size, 0);
});
