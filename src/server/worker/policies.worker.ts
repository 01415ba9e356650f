// Expressions of policies and of match conditions that take long run on a worker thread: they begin inline, where
// nearly all finish within the budget, and restart on the worker when they do not.
import { LRUCache } from 'lru-cache';
import { offload, task, type WorkerPool } from '../../lib/async/worker-pool.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { TimeSlice } from '../../lib/scheduling/time-slice.js';
import { workOn } from '../../lib/scheduling/sized-work.js';
import { runSync, runCooperatively, yieldToEventLoop } from '../../lib/scheduling/yield.js';
import type { AuthorizationAttributes } from '../../machinery/access.js';
import {
  type CompiledPolicy,
  type GroupEvaluation,
  type ImmediatePolicy,
  type Mutation,
  type PolicyCompiler,
  type PolicyEngine,
  type PolicyGroup,
  type PolicyInput,
  type PolicySource,
} from '../../cel/compiled-policy.js';
import { Interrupted } from '../../cel/interrupted.js';
import type { AccessAnswer } from '../../cel/kubernetes/authorizer.js';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../../machinery/object.js';
import { encodeForTransfer, encodeForTransferCooperatively } from '../../registry/transferred-object.js';
import { readPieces } from '../../schema/json/decode-pieces.js';
import { fieldsText } from '../../schema/lazy-fields.js';

/** How long expressions may run inline. */
const INLINE_BUDGET_MS = 15;

export const policiesWithWorkerFallback = (
  engine: PolicyEngine,
  workers: WorkerPool,
  nowMs: () => number = () => performance.now(),
): PolicyCompiler => {
  // Each is soon done, but hundreds of policies may look at one write.
  const share = new TimeSlice(nowMs);
  return { compilePolicy: policyWithWorkerFallback };

  function policyWithWorkerFallback(source: PolicySource): CompiledPolicy {
    const here = engine.compilePolicy(source);
    const begin = <T extends Outcome>(call: Call, input: PolicyInput): MaybePromise<T> => {
      const untilMs = nowMs() + INLINE_BUDGET_MS;
      try {
        return runInline(here, call, guarded(input), () => nowMs() > untilMs) as T;
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
      }
      return offload<Outcome>(
        workers,
        () => runOnWorker(workers, source, call, input),
        () => runInline(here, call, input),
      ) as Promise<T>;
    };
    const run = <T extends Outcome>(call: Call, input: PolicyInput): MaybePromise<T> =>
      share.exhausted ? yieldToEventLoop().then(() => begin<T>(call, input)) : begin<T>(call, input);
    return {
      evaluate: (group, input, costBudget) => run<GroupEvaluation>({ group, costBudget }, input),
      mutate: (index, input, costBudget) => run<Mutation>({ index, costBudget }, input),
    };
  }
};

type Outcome = GroupEvaluation | Mutation;

/** A group of expressions, or one mutation. */
type Call = { readonly costBudget: number } & ({ readonly group: PolicyGroup } | { readonly index: number });

const runInline = (policy: ImmediatePolicy, call: Call, input: PolicyInput, interrupted?: () => boolean): Outcome =>
  'group' in call
    ? policy.evaluate(call.group, input, call.costBudget, interrupted)
    : policy.mutate(call.index, input, call.costBudget, interrupted);

/** An expression that reads a large set of owned fields inline is interrupted: parsing the set takes long. */
const guarded = (input: PolicyInput): PolicyInput => ({
  ...input,
  object: withoutFields(input.object),
  oldObject: withoutFields(input.oldObject),
});

function withoutFields(object: object | null): object | null {
  const { metadata } = (object ?? {}) as Partial<KubeObject>;
  const owners = metadata?.managedFields;
  if (!Array.isArray(owners) || !owners.some(isLong)) return object;
  const managedFields = owners.map((entry) => (isLong(entry) ? { ...entry, fieldsV1: NOT_HERE } : entry));
  return { ...object, metadata: { ...metadata, managedFields } };
}

const isLong = ({ fieldsV1 }: ManagedFieldsEntry): boolean =>
  fieldsV1 !== undefined && workOn(fieldsText(fieldsV1)?.length ?? 0).isLarge;

const interrupt = (): never => {
  throw new Interrupted();
};

const NOT_HERE = new Proxy<JsonObject>(
  {},
  { get: interrupt, has: interrupt, ownKeys: interrupt, getOwnPropertyDescriptor: interrupt },
);

interface PolicyWork {
  readonly source: string;
  readonly call: Call;
  /** What expressions see, but for the authorizer. */
  readonly seen: Uint8Array;
  readonly authorizer?: Omit<NonNullable<PolicyInput['authorizer']>, 'ask'> | undefined;
  readonly answers: readonly Answered[];
}

type Answered = readonly [question: string, answer: AccessAnswer];

type PolicyRun =
  | { readonly outcome: GroupEvaluation }
  /** As JSON: it may be as large as what the expression saw. */
  | { readonly mutation: Uint8Array }
  | { readonly question: AuthorizationAttributes };

export const RUN_POLICY = task<PolicyWork, PolicyRun>('run policy');

async function runOnWorker(
  workers: WorkerPool,
  source: PolicySource,
  call: Call,
  input: PolicyInput,
): Promise<Outcome> {
  const { authorizer, ...seen } = input;
  const work = {
    source: JSON.stringify(source),
    call,
    seen: await encodeForTransferCooperatively(seen),
    authorizer: authorizer && { user: authorizer.user, resource: authorizer.resource },
  };
  const answers: Answered[] = [];
  for (;;) {
    const run = await workers.run(RUN_POLICY, { ...work, answers });
    if ('outcome' in run) return run.outcome;
    if ('mutation' in run) return (await runCooperatively(readPieces(run.mutation, undefined)))?.value as Mutation;
    if (authorizer === undefined) throw new Error('an expression without an authorizer called it');
    answers.push([JSON.stringify(run.question), authorizer.ask(run.question)]);
  }
}

const MAX_POLICIES = 100;

/** The worker's side. */
export class WorkerPolicies {
  readonly #known = new LRUCache<string, ImmediatePolicy>({ max: MAX_POLICIES });

  constructor(private readonly engine: PolicyEngine) {}

  run({ source, call, seen, authorizer, answers }: PolicyWork, interrupted?: () => boolean): PolicyRun {
    const known = new Map(answers);
    const ask = (question: AuthorizationAttributes): AccessAnswer => {
      const answer = known.get(JSON.stringify(question));
      if (answer === undefined) throw new Unanswered(question);
      return answer;
    };
    const input = {
      ...(runSync(readPieces(seen, undefined, { isOurs: true }))?.value as PolicyInput),
      ...(authorizer !== undefined && { authorizer: { ...authorizer, ask } }),
    };
    try {
      let policy = this.#known.get(source);
      if (policy === undefined) {
        policy = this.engine.compilePolicy(JSON.parse(source) as PolicySource);
        this.#known.set(source, policy);
      }
      const outcome = runInline(policy, call, input, interrupted);
      return 'group' in call ? { outcome: outcome as GroupEvaluation } : { mutation: encodeForTransfer(outcome) };
    } catch (error) {
      if (error instanceof Unanswered) return { question: error.question };
      throw error;
    }
  }
}

/** Thrown through an evaluation to the thread that has the authorizer. */
class Unanswered extends Error {
  constructor(readonly question: AuthorizationAttributes) {
    super('the authorizer has not answered');
  }
}
