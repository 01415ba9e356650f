import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FieldErrors } from '../../machinery/field-error.js';
import { validateMutatingPolicy } from './mutating-policy-validation.js';
import { validatePolicy } from './policy-validation.js';
import { validateWebhooks } from './webhook-validation.js';

const MOST = 5_000;
const MAX_CHARACTERS = 512 * 1024;

const WEBHOOK = {
  name: 'a.b.c',
  clientConfig: { url: 'https://a.example/' },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  rules: [],
};

/** What each kind says of so many expressions, without compiling any. */
const KINDS: Readonly<Record<string, (expressions: readonly string[]) => FieldErrors>> = {
  'a validating policy': (expressions) =>
    validatePolicy(
      { metadata: { name: 'a' }, spec: { validations: expressions.map((expression) => ({ expression })) } } as never,
      undefined,
      undefined,
    ),
  'a mutating policy': (expressions) =>
    validateMutatingPolicy(
      {
        metadata: { name: 'a' },
        spec: { variables: expressions.map((expression, i) => ({ name: `v${i}`, expression })) },
      } as never,
      undefined,
      undefined,
    ),
  'a webhook configuration': (expressions) =>
    validateWebhooks(
      [{ ...WEBHOOK, matchConditions: expressions.map((expression, i) => ({ name: `m${i}`, expression })) }] as never,
      undefined,
      undefined,
    ),
};

const amounts = (errors: FieldErrors): string[] =>
  errors.map(({ body }) => body).filter((body) => body.includes('this server compiles'));

for (const [kind, validate] of Object.entries(KINDS)) {
  test(`${kind} has at most ${MOST} expressions, of half a megabyte together`, () => {
    assert.deepEqual(amounts(validate(Array.from({ length: MOST }, () => 'true'))), []);
    assert.match(
      amounts(validate(Array.from({ length: MOST + 1 }, () => 'true'))).join(),
      /has 5001 expressions together, more than the 5000/,
    );
    const long = 'x'.repeat(MAX_CHARACTERS / 64);
    assert.deepEqual(amounts(validate(Array.from({ length: 64 }, () => long))), []);
    assert.match(
      amounts(validate([...Array.from({ length: 64 }, () => long), 'x'])).join(),
      /has expressions of 524289 characters together/,
    );
  });
}
