import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AuthorizationAttributes, AuthorizationResult, Authorizer } from './authorizer.js';
import { authorizerChain } from './chain.js';

const question: AuthorizationAttributes = {
  user: { name: 'alice', groups: [] },
  verb: 'get',
  resourceRequest: false,
  apiGroup: '',
  apiVersion: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  path: '/x',
};

interface Answer extends AuthorizationResult {
  readonly later: boolean;
}

const answer: fc.Arbitrary<Answer> = fc
  .record({
    decision: fc.constantFrom('allow' as const, 'deny' as const, 'no-opinion' as const, 'no-opinion' as const),
    reason: fc.constantFrom('', 'r1', 'r2'),
    error: fc.constantFrom('', '', 'e1', 'e2'),
    later: fc.boolean(),
  })
  .map(({ error, ...rest }) => (error === '' ? rest : { ...rest, evaluationError: error }));

/** The chain as one would say it: masters may; the first who decides does; else all reasons are joined. */
function plainModel(answers: readonly Answer[], master: boolean): AuthorizationResult {
  if (master) return { decision: 'allow', reason: '' };
  const decisive = answers.find(({ decision }) => decision !== 'no-opinion');
  if (decisive !== undefined) {
    const { later: _, ...result } = decisive;
    return result;
  }
  const errors = [...new Set(answers.flatMap(({ evaluationError }) => evaluationError ?? []))];
  return {
    decision: 'no-opinion',
    reason: answers.flatMap(({ reason }) => (reason === '' ? [] : [reason])).join('\n'),
    ...(errors.length > 0 && { evaluationError: errors.length === 1 ? errors[0] : `[${errors.join(', ')}]` }),
  } as AuthorizationResult;
}

test('a chain decides as its plain description does, calls no authorizer too many, and counts who decided', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { maxLength: 6 }), fc.boolean(), async (answers, master) => {
      let calls = 0;
      const counted: string[] = [];
      const members = answers.map(({ later, ...result }, index) => {
        const authorizer: Authorizer = {
          authorize() {
            calls++;
            return later ? Promise.resolve(result) : result;
          },
          rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
        };
        return { type: 'T', name: String(index), authorizer };
      });
      const chain = authorizerChain(members, ({ name }, decision) => counted.push(`${name} ${decision}`));
      const user = { name: 'alice', groups: master ? ['system:masters'] : [] };
      assert.deepEqual(await chain.authorize({ ...question, user }), plainModel(answers, master));

      const decider = master ? -1 : answers.findIndex(({ decision }) => decision !== 'no-opinion');
      assert.equal(calls, master ? 0 : decider < 0 ? answers.length : decider + 1);
      const decision = answers[decider]?.decision === 'allow' ? 'allowed' : 'denied';
      assert.deepEqual(counted, decider < 0 ? [] : [`${decider} ${decision}`]);
    }),
    { numRuns: 500 },
  );
});
