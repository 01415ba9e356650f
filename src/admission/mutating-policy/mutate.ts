// Applies the mutating policies that are for a request, each with every binding and every set of parameters, one after
// the other: each sees what the ones before made of the object.
import type { Authorizer } from '../../authz/authorizer.js';
import type { Mutation } from '../../cel/compiled-policy.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { StatusError } from '../../machinery/status.js';
import { apiVersionOf, type JsonObject, type KubeObject } from '../../machinery/object.js';
import type { MutatingAdmissionPolicyBindingSpec } from '../../schema/generated/admissionregistration.v1beta1.js';
import type { AdmissionAttributes, Round } from '../plugin.js';
import { isUnchanged, keepObject } from '../stored-object.js';
import { takeOver } from '../take-over.js';
import { COST_BUDGET } from '../validating-policy/decide.js';
import {
  type Invocation,
  type InvocationParts,
  invocationsOf,
  namespaceOfRequest,
} from '../validating-policy/invocations.js';
import { conditionsHold } from '../matching/match-conditions.js';
import type { ResourceMatch } from '../matching/resource-match.js';
import type { PolicyRecorder } from '../validating-policy/metrics.js';
import { matchInput, policyInput } from '../matching/expression-input.js';
import { MemoizedAnswers } from '../matching/memoized-answers.js';
import { SeenRequest } from '../matching/seen-request.js';
import type { MutatingPolicy } from './compile.js';
import { MutationError, mutatedObject } from './mutated-object.js';
import type { MutationRecorder } from './metrics.js';
import { type Refusal, refuse } from './refuse.js';
import { Reinvocation } from '../reinvocation.js';

export interface MutatingParts extends InvocationParts {
  readonly authorizer: Pick<Authorizer, 'authorize'>;
  readonly recorder?: MutationRecorder & Pick<PolicyRecorder, 'matched'>;
}

type Invoked = Extract<Invocation<MutatingAdmissionPolicyBindingSpec>, { readonly kind: 'invoke' }>;

export async function mutate(
  parts: MutatingParts,
  policies: readonly MutatingPolicy[],
  request: SeenRequest,
  round: Round,
): Promise<void> {
  const refusals: Refusal[] = [];
  const invocations: { readonly policy: MutatingPolicy; readonly invoked: Invoked }[] = [];
  for (const policy of policies) {
    for (const invoked of await invocationsOf(policy, request, parts)) {
      const unseen = invoked.kind === 'invoke' ? unseenIn(request, invoked.matched) : undefined;
      if (unseen !== undefined) refusals.push(misconfigured(policy, { kind: 'misconfigured', fault: unseen }));
      else if (invoked.kind === 'invoke') invocations.push({ policy, invoked });
      else refusals.push(misconfigured(policy, invoked));
    }
  }
  if (invocations.length > 0) {
    const dispatch = new Dispatch({
      parts,
      attributes: request.attributes,
      round,
      namespace: await namespaceOfRequest(request),
      refusals,
    });
    await dispatch.begin();
    for (const { policy, invoked } of invocations) await dispatch.invoke(policy, invoked);
    await dispatch.conclude();
  }
  refuse(request.attributes, refusals);
}

/** Why the object cannot be had in the version that was matched. */
function unseenIn(request: SeenRequest, matched: ResourceMatch): string | undefined {
  try {
    request.inVersion(request.object, matched);
    request.inVersion(request.old, matched);
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
}

function misconfigured(
  policy: MutatingPolicy,
  { binding, fault }: Extract<Invocation<MutatingAdmissionPolicyBindingSpec>, { readonly kind: 'misconfigured' }>,
): Refusal {
  const message = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${fault}`;
  return { policy, ...(binding && { binding }), message };
}

interface MutationRun {
  readonly policy: MutatingPolicy;
  readonly binding: string;
  readonly matched: ResourceMatch;
  readonly params: Readonly<KubeObject> | null;
  readonly index: number;
}

interface Dispatched {
  readonly parts: MutatingParts;
  readonly attributes: AdmissionAttributes;
  readonly round: Round;
  readonly namespace: object | null;
  readonly refusals: Refusal[];
}

class Dispatch {
  private readonly answers: MemoizedAnswers;
  private readonly reinvocation: Reinvocation;
  private mutated = false;

  constructor(private readonly dispatched: Dispatched) {
    const { parts, attributes, round } = dispatched;
    this.answers = new MemoizedAnswers(parts.authorizer, attributes.context.waiting);
    this.reinvocation = round.notes('MutatingAdmissionPolicy', () => new Reinvocation());
  }

  async begin(): Promise<void> {
    const { reinvocation } = this;
    const { round, attributes } = this.dispatched;
    // Plugins of the server's own have changed what the policies left.
    if (round.again && !(await reinvocation.isOutput(attributes.object))) reinvocation.changed();
  }

  async invoke(policy: MutatingPolicy, { binding, matched, params }: Invoked): Promise<void> {
    for (const each of params) {
      const holds = await this.conditionsHold(policy, matched, each);
      if (holds === false) continue;
      if (holds !== true) {
        this.dispatched.refusals.push({ policy, binding, message: holds.error, reason: 'Invalid' });
        continue;
      }
      const key = JSON.stringify([policy.name, binding.name, each?.metadata.namespace, each?.metadata.name]);
      if (this.dispatched.round.again && !this.reinvocation.isDue(key)) continue;
      const before = await keepObject(this.dispatched.attributes.object);
      for (const index of (policy.spec.mutations ?? []).keys()) {
        const message = await this.mutateOnce({ policy, binding: binding.name, matched, params: each, index });
        if (message !== undefined) this.dispatched.refusals.push({ policy, binding, message, reason: 'Invalid' });
      }
      if (!(await isUnchanged(before, this.dispatched.attributes.object))) this.reinvocation.changed();
      if (policy.spec.reinvocationPolicy === 'IfNeeded') this.reinvocation.applied(key);
    }
  }

  async conclude(): Promise<void> {
    const { reinvocation } = this;
    const { round, attributes } = this.dispatched;
    if (this.mutated) {
      reinvocation.changed();
      round.requestReinvocation();
    }
    await reinvocation.keepOutput(attributes.object);
  }

  private async conditionsHold(
    policy: MutatingPolicy,
    matched: ResourceMatch,
    params: Readonly<KubeObject> | null,
  ): Promise<boolean | { readonly error: string }> {
    if ((policy.spec.matchConditions ?? []).length === 0) return true;
    const { attributes, parts } = this.dispatched;
    const { answers } = this;
    const { input, request } = await this.inputFor(matched, params);
    const holds = await answers.settle(() =>
      conditionsHold({
        compiled: policy.compiled(),
        matchInput: () => matchInput(input, request, matched),
        observeMatch: (seconds, errors) => parts.recorder?.matched(policy.name, attributes.operation, seconds, errors),
      }),
    );
    return typeof holds !== 'boolean' && policy.spec.failurePolicy === 'Ignore' ? false : holds;
  }

  /** Why the mutation could not be made. */
  private async mutateOnce({ policy, binding, matched, params, index }: MutationRun): Promise<string | undefined> {
    const { attributes, parts } = this.dispatched;
    const { answers } = this;
    if (attributes.object === undefined && attributes.connectOptions === undefined) return undefined;
    const startedMs = performance.now();
    const observe = (error?: string): void =>
      parts.recorder?.mutated(policy.name, binding, (performance.now() - startedMs) / 1000, error);
    const { input, request } = await this.inputFor(matched, params);
    const mutation: Mutation = await answers.settle(() => policy.compiled().mutate(index, input, COST_BUDGET));
    try {
      const made = await this.made(matched, input.object as JsonObject, mutation);
      if (made !== undefined) takeOver(attributes, await request.back(made));
    } catch (error) {
      if (!(error instanceof MutationError || error instanceof StatusError)) throw error;
      observe(error.message);
      if (error instanceof StatusError) throw error;
      return error.message;
    }
    observe();
    this.mutated = true;
    return undefined;
  }

  private made(
    matched: ResourceMatch,
    object: Readonly<JsonObject>,
    mutation: Mutation,
  ): MaybePromise<KubeObject | undefined> {
    const { served } = this.dispatched.parts;
    const takers = this.isForeign(matched) ? { ...served, toStored: () => refuseForeign(matched) } : served;
    const inline = (): KubeObject | undefined => mutatedObject(takers, matched, object, mutation);
    const isWrite = this.dispatched.attributes.connectOptions === undefined;
    return isWrite && served.mutate !== undefined ? served.mutate(matched, object, mutation, inline) : inline();
  }

  /** A custom resource seen as what is none, as its scale is. */
  private isForeign({ kind }: ResourceMatch): boolean {
    const { kind: own } = this.dispatched.attributes;
    return kind.group !== own.group && this.dispatched.parts.served.typeOf(own)?.unstructured !== undefined;
  }

  /** The object as it is now. */
  private async inputFor(matched: ResourceMatch, params: Readonly<KubeObject> | null) {
    const { attributes, namespace, parts } = this.dispatched;
    const { answers } = this;
    const request = new SeenRequest(attributes, parts.served);
    await request.prepare(matched);
    const objects = {
      object: attributes.connectOptions ?? request.inVersion(request.object, matched),
      oldObject: request.inVersion(request.old, matched),
      params,
    };
    return { request, input: policyInput({ request, matched, objects, namespace, ask: answers.ask }) };
  }
}

/** Nobody converts it back, once a patch has changed it. */
function refuseForeign({ kind }: ResourceMatch): never {
  throw new MutationError(`request to convert CR to an invalid group/version: ${apiVersionOf(kind)}`);
}
