// Applies the policies that are for a request, each with every binding and every set of parameters. All are applied,
// so that every warning and annotation is sent; the client gets the first refusal.
import type { Authorizer } from '../../authz/authorizer.js';
import { StatusError } from '../../machinery/status.js';
import { forbid } from '../forbid.js';
import { AnnotationCollector, cutAnnotation, failureAnnotation, VALIDATION_FAILURE } from './annotations.js';
import { decide, type Decision, type Verdict } from './decide.js';
import type { ValidatingBinding, ValidatingPolicy } from './compile.js';
import { type InvocationParts, invocationsOf, namespaceOfRequest } from './invocations.js';
import { type Fault, isFault } from '../matching/match.js';
import type { ResourceMatch } from '../matching/resource-match.js';
import type { PolicyRecorder } from './metrics.js';
import { matchInput, policyInput, type SeenObjects } from '../matching/expression-input.js';
import { MemoizedAnswers } from '../matching/memoized-answers.js';
import type { SeenRequest } from '../matching/seen-request.js';

export interface EnforcementParts extends InvocationParts {
  readonly authorizer: Pick<Authorizer, 'authorize'>;
  readonly recorder?: PolicyRecorder;
}

type Objects = Omit<SeenObjects, 'params'>;

const NO_OBJECTS: Objects = { object: null, oldObject: null };

interface Refusal {
  readonly policy: ValidatingPolicy;
  readonly binding?: ValidatingBinding;
  readonly message: string;
  readonly reason: string;
}

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };
const UNPROCESSABLE = 422;

export async function enforce(
  parts: EnforcementParts,
  policies: readonly ValidatingPolicy[],
  request: SeenRequest,
): Promise<void> {
  const enforcement = new Enforcement(parts, request);
  for (const policy of policies) await enforcement.apply(policy);
  enforcement.conclude();
}

class Enforcement {
  private readonly refusals: Refusal[] = [];
  private readonly answers: MemoizedAnswers;
  private readonly annotations: AnnotationCollector;
  /** As expressions see it; null while it is not known, and where there is none. */
  private namespace: object | null = null;

  constructor(
    private readonly parts: EnforcementParts,
    private readonly request: SeenRequest,
  ) {
    this.answers = new MemoizedAnswers(parts.authorizer, request.attributes.context.waiting);
    this.annotations = new AnnotationCollector(request.attributes.annotate);
  }

  async apply(policy: ValidatingPolicy): Promise<void> {
    for (const invocation of await invocationsOf(policy, this.request, this.parts)) {
      if (invocation.kind === 'misconfigured') {
        this.misconfigured(policy, invocation.binding, invocation.fault);
        continue;
      }
      const { binding, matched, params } = invocation;
      const objects = params.length === 0 ? NO_OBJECTS : this.objectsIn(matched);
      if (isFault(objects)) {
        this.misconfigured(policy, binding, objects.fault);
        continue;
      }
      this.namespace ??= await namespaceOfRequest(this.request);
      const verdicts: Verdict[] = [];
      for (const each of params) verdicts.push(await this.decide(policy, matched, { ...objects, params: each }));
      for (const verdict of verdicts) this.act(policy, binding, verdict);
    }
    this.annotations.publish(policy.name);
  }

  /** Refuses when any policy has. */
  conclude(): void {
    const [first] = this.refusals;
    if (first === undefined) return;
    const binding = first.binding === undefined ? '' : ` with binding '${first.binding.name}'`;
    const message = `ValidatingAdmissionPolicy '${first.policy.name}'${binding} denied request: ${first.message}`;
    const refused = forbid(this.request.attributes, message);
    const reason = first.reason === '' ? 'Invalid' : first.reason;
    const causes = [...(refused.details?.causes ?? []), { message }];
    throw new StatusError(CODES[reason] ?? UNPROCESSABLE, reason, refused.message, { ...refused.details, causes });
  }

  private misconfigured(policy: ValidatingPolicy, binding: ValidatingBinding | undefined, fault: string): void {
    if (policy.spec.failurePolicy === 'Ignore') return;
    const message = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${fault}`;
    this.refusals.push({ policy, ...(binding && { binding }), message, reason: '' });
  }

  /** The objects in the version that was matched; conversion may fail. */
  private objectsIn(matched: ResourceMatch): Objects | Fault {
    const { request } = this;
    try {
      return {
        object: request.attributes.connectOptions ?? request.inVersion(request.object, matched),
        oldObject: request.inVersion(request.old, matched),
      };
    } catch (error) {
      if (error instanceof StatusError) return { fault: `failed to convert object version: ${error.message}` };
      throw error;
    }
  }

  private decide(policy: ValidatingPolicy, matched: ResourceMatch, objects: SeenObjects): Promise<Verdict> {
    const { request, parts, answers } = this;
    const { attributes } = request;
    const input = policyInput({ request, matched, objects, namespace: this.namespace, ask: answers.ask });
    const options = {
      spec: policy.spec,
      compiled: policy.compiled(),
      input,
      matchInput: () => matchInput(input, request, matched),
      observeMatch: (seconds: number, errors: number) =>
        parts.recorder?.matched(policy.name, attributes.operation, seconds, errors),
    };
    return answers.settle(() => decide(options));
  }

  private act(policy: ValidatingPolicy, binding: ValidatingBinding, { decisions, annotations }: Verdict): void {
    const { recorder } = this.parts;
    for (const [index, decision] of decisions.entries()) {
      if (decision.deny) this.enforce(policy, binding, decision, index);
      else if (decision.evaluation === 'error') recorder?.checked(policy.name, binding.name, 'allow', decision);
    }
    for (const annotation of annotations) {
      if (annotation.kind === 'publish') {
        this.annotations.collect(annotation.key, cutAnnotation(annotation.value));
        continue;
      }
      const { message, seconds } = annotation;
      this.refusals.push({ policy, binding, message, reason: '' });
      const decision: Decision = { deny: true, evaluation: 'error', message, reason: '', seconds };
      recorder?.checked(policy.name, binding.name, 'deny', decision);
    }
  }

  private enforce(policy: ValidatingPolicy, binding: ValidatingBinding, decision: Decision, index: number): void {
    const { recorder } = this.parts;
    const { message, reason } = decision;
    for (const action of binding.spec.validationActions ?? []) {
      switch (action) {
        case 'Deny':
          this.refusals.push({ policy, binding, message, reason });
          recorder?.checked(policy.name, binding.name, 'deny', decision);
          break;
        case 'Audit':
          this.annotations.set(VALIDATION_FAILURE, failureAnnotation(binding, index, message));
          recorder?.checked(policy.name, binding.name, 'audit', decision);
          break;
        case 'Warn':
          this.request.attributes.context.warn(
            `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
          );
          recorder?.checked(policy.name, binding.name, 'warn', decision);
          break;
        default:
      }
    }
  }
}
