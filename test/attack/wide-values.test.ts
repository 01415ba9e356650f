// Whatever walks lists and maps that people send takes time in proportion to them: a hundred thousand items that are looked
// for in each other would take minutes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Correlation } from '../../src/apis/apiextensions/values/correlation.js';
import { Trials, validateValue } from '../../src/apis/apiextensions/values/validate-value.js';
import { append } from '../../src/lib/values/append.js';
import { validateUniqueItems } from '../../src/crd/list-uniqueness.js';
import { endpoints } from '../../src/apis/core/endpoints/definition.js';
import { validateClaimReferences } from '../../src/apis/core/pod/validation/resources.js';
import { validateOnlyAddedTolerations } from '../../src/apis/core/pod/validation/tolerations.js';
import { FieldPath } from '../../src/machinery/field-error.js';
import { invalid } from '../../src/machinery/status.js';
import { parseAccept } from '../../src/rest/wire/negotiate.js';
import type { Endpoints, PodTemplateSpec } from '../../src/schema/generated/core.v1.js';
import { mustType } from '../../src/schema/catalogue.js';
import { strategicMergePatch } from '../../src/schema/patch/strategic-merge.js';

const MANY = 100_000;
/** Of the processor. */
const MAX_MS = 30_000;
const PATH = FieldPath.of('spec');
const numbers = Array.from({ length: MANY }, (_, i) => i);

function inTime(name: string, work: () => void): void {
  test(`${name}: time grows with the size`, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    const usedMs = (user + system) / 1000;
    assert.ok(usedMs < MAX_MS, `${Math.round(usedMs)} ms`);
  });
}

inTime('a list with everything wrong', () => {
  const schema = { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } };
  assert.equal(validateValue({ a: numbers }, schema, { path: PATH }).length, 20_000);
});

inTime('a keyed list beside what it was', () => {
  const list = numbers.map((k) => ({ k }));
  const schema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', properties: { k: { type: 'string' } } },
  };
  assert.deepEqual(
    validateValue(list.toReversed(), schema, { path: PATH, old: new Correlation(list.toReversed(), list, schema) }),
    [],
  );
});

inTime('a list without duplicates, of a long enumeration', () => {
  const schema = { type: 'array', uniqueItems: true, items: { type: 'integer', enum: numbers } };
  assert.deepEqual(validateValue(numbers, schema, { path: PATH }), []);
  assert.equal(validateValue([...numbers, 5], schema, { path: PATH }).length, 1);
});

inTime('claims that a pod has not, beside as many that it has', () => {
  const claims = new Set(numbers.map((i) => `claim-${i}`));
  const used = numbers.map((i) => ({ name: `other-${i}` }));
  const errors = validateClaimReferences(used, claims, PATH);
  assert.equal(errors.length, MANY);
  const { details } = invalid({ group: '', kind: 'Pod' }, 'a', errors);
  assert.ok((details?.causes?.length ?? 0) < 10);
});

inTime('a strategic merge of other items', () => {
  const type = mustType('io.k8s.api.core.v1.PodTemplateSpec');
  const made = (prefix: string) => ({ spec: { containers: numbers.map((i) => ({ name: `${prefix}${i}` })) } });
  const merged = strategicMergePatch(made('a'), made('b'), type) as unknown as PodTemplateSpec;
  assert.equal(merged.spec.containers?.length, 2 * MANY);
  const gone = { spec: { containers: made('a').spec.containers.map((item) => ({ ...item, $patch: 'delete' })) } };
  const left = strategicMergePatch(made('a'), gone, type) as unknown as PodTemplateSpec;
  assert.deepEqual(left.spec.containers, []);
});

inTime('tolerations beside those before', () => {
  const tolerations = numbers.map((i) => ({ key: `k${i}`, operator: 'Exists' }));
  assert.deepEqual(validateOnlyAddedTolerations(tolerations.toReversed(), tolerations, PATH), []);
  assert.equal(validateOnlyAddedTolerations(tolerations.slice(1), tolerations, PATH).length, 1);
});

inTime('endpoints encoded in a table', () => {
  const subset = {
    addresses: numbers.map((i) => ({ ip: `10.0.0.${i % 250}` })),
    ports: numbers.map((port) => ({ port })),
  };
  const object = { metadata: { name: 'a' }, subsets: [subset] } as unknown as Endpoints;
  const shown = '10.0.0.0:0,10.0.0.1:0,10.0.0.2:0';
  assert.equal(endpoints.table.row(object, new Date())[1], `${shown} + ${MANY * MANY - 3} more...`);
});

inTime('more errors than the stack takes arguments', () => {
  const list: number[] = [];
  append(list, numbers, numbers, numbers);
  assert.equal(list.length, 3 * MANY);
  const items = Array.from({ length: 3 * MANY }, () => ({ a: [1] }));
  const property = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
  const schema = { type: 'object', properties: { a: { type: 'array', items: { properties: { a: property } } } } };
  assert.equal(validateValue({ a: items }, schema, { path: PATH }).length, 20_000);
  const twice = { a: numbers.flatMap((i) => [i, i]) };
  assert.equal(validateUniqueItems(twice, { properties: { a: property } }, undefined).length, MANY);
});

inTime('an Accept header of wildcards, with better ones behind them', () => {
  const wildcards = numbers.map((i) => `*/*;c=${i}`);
  const clauses = parseAccept([...wildcards, ...numbers.map((i) => `a/b;c=${i}`)].join());
  assert.equal(clauses.length, 2 * MANY);
  assert.deepEqual([clauses[0]?.type, clauses[MANY - 1]?.subtype, clauses[MANY]?.type], ['a', 'b', '*']);
});

inTime('many items, each tried with many alternatives', () => {
  const anyOf = Array.from({ length: 3_000 }, (_, i) => ({ maxLength: i, minLength: i + 1 }));
  const schema = { type: 'array', items: { type: 'string', anyOf } };
  // A tenth of what a write has, which takes ten seconds.
  assert.throws(
    () => validateValue(numbers.map(String), schema, { path: PATH, trials: new Trials(2_000_000) }),
    /^Error: Timeout: the object was tried with too many alternatives/,
  );
  const fitting = { ...schema, items: { type: 'string', anyOf: [{ maxLength: 9 }, ...anyOf] } };
  assert.deepEqual(validateValue(numbers.map(String), fitting, { path: PATH }), []);
});
