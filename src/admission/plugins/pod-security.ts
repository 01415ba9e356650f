import { allContainers } from '../../apis/core/pod/containers.js';
import { aggregateText, type FieldError, fieldErrorText } from '../../machinery/field-error.js';
import { forbidden, type GroupResource, internalError, invalid } from '../../machinery/status.js';
import type { LifeContext } from '../../registry/kind.js';
import type { CronJob } from '../../schema/generated/batch.v1.js';
import type { Namespace, Pod, PodTemplate, PodTemplateSpec } from '../../schema/generated/core.v1.js';
import { goQuote } from '../../lib/go/quote.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { runCooperatively, type StepGenerator } from '../../lib/scheduling/yield.js';
import { existingPodWarnings } from '../pod-security/existing-pods.js';
import { evaluatePod, evaluationSteps, violationsText } from '../pod-security/evaluate.js';
import type { CheckedPod, Violation } from '../pod-security/check.js';
import type { PodSecurityRecorder } from '../pod-security/metrics.js';
import {
  compareLevels,
  LABEL_PREFIX,
  type LevelVersion,
  type Mode,
  type Policy,
  policyOf,
  policyText,
  samePolicy,
} from '../pod-security/policy.js';
import { onlyWhere } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const NAMESPACES = { group: '', resource: 'namespaces' };
/** Subresources of a pod that do not change what it runs. */
const HARMLESS = ['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'];
const WORKLOADS: ReadonlySet<string> = new Set([
  'replicationcontrollers',
  'podtemplates',
  'replicasets.apps',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'cronjobs.batch',
]);

export interface PodSecurityOptions {
  /** For namespaces without labels. */
  readonly defaults: Policy;
  readonly recorder?: PodSecurityRecorder;
  readonly exemptions: {
    readonly usernames: readonly string[];
    readonly namespaces: readonly string[];
    readonly runtimeClasses: readonly string[];
  };
}

const PRIVILEGED: LevelVersion = { level: 'privileged', minor: Infinity };

export const NO_POD_SECURITY: PodSecurityOptions = {
  defaults: { enforce: PRIVILEGED, audit: PRIVILEGED, warn: PRIVILEGED },
  exemptions: { usernames: [], namespaces: [], runtimeClasses: [] },
};

/** Holds pods to the security level of their namespace; workloads that would make such pods are warned about. */
export const podSecurity = (options: PodSecurityOptions): AdmissionPlugin => ({
  name: 'PodSecurity',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  validate: onlyWhere(isHeld, (attributes) => {
    const { resource } = attributes.resource;
    if (resource === 'pods') return validatePod(options, attributes);
    return resource === 'namespaces' ? validateNamespace(options, attributes) : validateWorkload(options, attributes);
  }),
});

function isHeld({ group, resource }: GroupResource, subresource: string): boolean {
  const name = group === '' ? resource : `${resource}.${group}`;
  if (name === 'pods') return !HARMLESS.includes(subresource);
  return subresource === '' && (name === 'namespaces' || WORKLOADS.has(name));
}

// hot: every pod; its namespace is mostly at hand.
function validatePod(options: PodSecurityOptions, attributes: AdmissionAttributes): MaybePromise<void> {
  if (isExempt(options, attributes)) return undefined;
  return whenReady(labelsOf(attributes), (labels) => holdPod(options, attributes, labels));
}

function holdPod(
  options: PodSecurityOptions,
  attributes: AdmissionAttributes,
  labels: NamespaceLabels,
): MaybePromise<void> {
  const { operation, namespace, context, annotate } = attributes;
  if (labels === 'missing') {
    options.recorder?.failed(true, attributes);
    throw internalError(`failed to lookup namespace ${goQuote(namespace)}`);
  }
  const { policy, errors } = policyOf(labels, options.defaults);
  if (errors.length === 0 && MODES.every((mode) => policy[mode].level === 'privileged')) {
    annotate(`${LABEL_PREFIX}enforce-policy`, policyText(PRIVILEGED));
    options.recorder?.evaluated('allow', policy.enforce, 'enforce', attributes);
    return undefined;
  }
  const pod = attributes.object as Pod;
  if (operation === 'UPDATE' && !runsSomethingNew(pod, attributes.old as Pod)) return undefined;
  if (isExemptRuntime(options, attributes, pod)) return undefined;
  noteErrors(options, attributes, errors);
  annotate(`${LABEL_PREFIX}enforce-policy`, policyText(policy.enforce));
  return whenReady(evaluatorFor(pod, MODES, policy, context), (evaluate) =>
    judgePod(options, attributes, policy, evaluate),
  );
}

function judgePod(
  options: PodSecurityOptions,
  attributes: AdmissionAttributes,
  policy: Policy,
  evaluate: Evaluate,
): void {
  const refused = evaluate(policy.enforce);
  options.recorder?.evaluated(refused.length === 0 ? 'allow' : 'deny', policy.enforce, 'enforce', attributes);
  reportAgainst('audit', options, { attributes, policies: policy, evaluate });
  if (refused.length === 0) {
    reportAgainst('warn', options, { attributes, policies: policy, evaluate });
    return;
  }
  throw forbidden(
    attributes.resource,
    attributes.name,
    `violates PodSecurity ${goQuote(policyText(policy.enforce))}: ${violationsText(refused)}`,
  );
}

function validateWorkload(options: PodSecurityOptions, attributes: AdmissionAttributes): MaybePromise<void> {
  if (isExempt(options, attributes)) return undefined;
  return whenReady(labelsOf(attributes), (labels) => holdWorkload(options, attributes, labels));
}

function holdWorkload(
  options: PodSecurityOptions,
  attributes: AdmissionAttributes,
  labels: NamespaceLabels,
): MaybePromise<void> {
  if (labels === 'missing') {
    const why = `failed to lookup namespace ${goQuote(attributes.namespace)}: namespaces ${goQuote(attributes.namespace)} not found`;
    attributes.annotate(`${LABEL_PREFIX}error`, why);
    return undefined;
  }
  const { policy, errors } = policyOf(labels, options.defaults);
  const idle = policy.warn.level === 'privileged' && policy.audit.level === 'privileged';
  const template = templateOf(attributes);
  if ((errors.length === 0 && idle) || template === undefined) return undefined;
  if (isExemptRuntime(options, attributes, template)) return undefined;
  noteErrors(options, attributes, errors);
  return whenReady(evaluatorFor(template, ['audit', 'warn'], policy, attributes.context), (evaluate) => {
    reportAgainst('audit', options, { attributes, policies: policy, evaluate });
    reportAgainst('warn', options, { attributes, policies: policy, evaluate });
  });
}

async function validateNamespace(options: PodSecurityOptions, attributes: AdmissionAttributes): Promise<void> {
  const { operation, kind, name, context } = attributes;
  const namespace = attributes.object as Namespace;
  const { policy, errors } = policyOf(namespace.metadata.labels, options.defaults);
  if (operation === 'CREATE') {
    if (errors.length > 0) throw invalid(kind, name, errors);
    warnOfExemption(options, attributes, policy);
    return;
  }
  const before = policyOf(attributes.old?.metadata.labels, options.defaults);
  const texts = errors.map(fieldErrorText);
  if (texts.length > 0 && texts.join('\n') !== before.errors.map(fieldErrorText).join('\n')) {
    throw invalid(kind, name, errors);
  }
  const { enforce } = policy;
  const was = before.policy.enforce;
  if (samePolicy(enforce, was) || enforce.level === 'privileged') return;
  if (enforce.minor === was.minor && compareLevels(enforce.level, was.level) < 0) return;
  if (warnOfExemption(options, attributes, policy)) return;
  const isExempted = (pod: CheckedPod): boolean =>
    options.exemptions.runtimeClasses.includes(pod.spec.runtimeClassName ?? '');
  for (const text of await existingPodWarnings(namespace.metadata.name ?? '', enforce, context, isExempted)) {
    context.warn(text);
  }
}

const MODES: readonly Mode[] = ['enforce', 'audit', 'warn'];

type Evaluate = (policy: LevelVersion) => readonly Violation[];

/** Each is looked at by some twenty checks. */
const MANY_CONTAINERS = 500;

/** Modes mostly have the same level, so each result is memoized. */
function evaluatorFor(
  pod: CheckedPod,
  modes: readonly Mode[],
  levels: Policy,
  { features }: LifeContext,
): MaybePromise<Evaluate> {
  const answers = new Map<string, readonly Violation[]>();
  const evaluate: Evaluate = (policy) => {
    const key = policyText(policy);
    const answer = answers.get(key) ?? evaluatePod(policy, pod, features);
    answers.set(key, answer);
    return answer;
  };
  if (allContainers(pod.spec).length <= MANY_CONTAINERS) return evaluate;
  return runCooperatively(evaluateAll()).then(() => evaluate);

  function* evaluateAll(): StepGenerator<void> {
    for (const mode of modes) {
      const key = policyText(levels[mode]);
      if (!answers.has(key)) answers.set(key, yield* evaluationSteps(levels[mode], pod, features));
    }
  }
}

interface Verdict {
  readonly attributes: AdmissionAttributes;
  readonly policies: Readonly<Record<'audit' | 'warn', LevelVersion>>;
  readonly evaluate: Evaluate;
}

/** What does not fit is recorded, and said to the log of audit or to the client. */
function reportAgainst(mode: 'audit' | 'warn', { recorder }: PodSecurityOptions, verdict: Verdict): void {
  const { attributes, policies, evaluate } = verdict;
  const policy = policies[mode];
  const found = evaluate(policy);
  if (found.length === 0) return;
  recorder?.evaluated('deny', policy, mode, attributes);
  const text = wouldViolate(policy, found);
  if (mode === 'audit') attributes.annotate(`${LABEL_PREFIX}audit-violations`, text);
  else attributes.context.warn(text);
}

const wouldViolate = (policy: LevelVersion, found: readonly Violation[]): string =>
  `would violate PodSecurity ${goQuote(policyText(policy))}: ${violationsText(found)}`;

function noteErrors(
  { recorder }: PodSecurityOptions,
  attributes: AdmissionAttributes,
  errors: readonly FieldError[],
): void {
  if (errors.length === 0) return;
  recorder?.failed(false, attributes);
  const why = aggregateText(errors.map(fieldErrorText));
  attributes.annotate(`${LABEL_PREFIX}error`, `Failed to parse policy: ${why}`);
}

type NamespaceLabels = Readonly<Record<string, string>> | undefined | 'missing';

const labelsOf = ({ namespace, context }: AdmissionAttributes): MaybePromise<NamespaceLabels> =>
  whenReady(context.lookup.get(NAMESPACES, '', namespace), (found) =>
    found === undefined ? 'missing' : found.metadata.labels,
  );

function isExempt({ exemptions, recorder }: PodSecurityOptions, attributes: AdmissionAttributes): boolean {
  const { namespace, context, annotate } = attributes;
  const reason = exemptions.namespaces.includes(namespace)
    ? 'namespace'
    : exemptions.usernames.includes(context.user.name)
      ? 'user'
      : undefined;
  if (reason === undefined) return false;
  annotate(`${LABEL_PREFIX}exempt`, reason);
  recorder?.exempted(attributes);
  return true;
}

function isExemptRuntime(
  { exemptions, recorder }: PodSecurityOptions,
  attributes: AdmissionAttributes,
  { spec }: CheckedPod,
): boolean {
  if (!spec.runtimeClassName || !exemptions.runtimeClasses.includes(spec.runtimeClassName)) return false;
  attributes.annotate(`${LABEL_PREFIX}exempt`, 'runtimeClass');
  recorder?.exempted(attributes);
  return true;
}

/** Only images decide: nothing else that matters here can be changed on a pod. */
function runsSomethingNew({ spec }: Pod, { spec: old }: Pod): boolean {
  for (const member of ['containers', 'initContainers'] as const) {
    const [now, before] = [spec[member] ?? [], old[member] ?? []];
    if (now.length !== before.length || now.some(({ image }, i) => image !== before[i]?.image)) return true;
  }
  const known = new Map(allContainers({ ...old, containers: [], initContainers: [] }).map((one) => [one.name, one]));
  return (spec.ephemeralContainers ?? []).some(({ name, image }) => {
    const before = known.get(name);
    return before === undefined || before.image !== image;
  });
}

function templateOf({ resource, object }: AdmissionAttributes): PodTemplateSpec | undefined {
  if (resource.resource === 'podtemplates') return (object as PodTemplate).template;
  if (resource.resource === 'cronjobs') return (object as CronJob).spec.jobTemplate.spec?.template;
  return (object as { spec?: { template?: PodTemplateSpec } }).spec?.template;
}

/** True when the namespace is exempt, whatever its labels say. */
function warnOfExemption(
  options: PodSecurityOptions,
  { object, context }: AdmissionAttributes,
  policy: Policy,
): boolean {
  const name = object?.metadata.name ?? '';
  if (!options.exemptions.namespaces.includes(name)) return false;
  const labels = object?.metadata.labels ?? {};
  const counts = MODES.some((mode) => policy[mode].level !== 'privileged');
  const isDefault = MODES.every((mode) => {
    const both = [policy[mode], options.defaults[mode]] as const;
    return samePolicy(...both) || both.every(({ level }) => level === 'privileged');
  });
  if (!counts || isDefault) return true;
  const ignored = MODES.filter(
    (mode) =>
      policy[mode].level !== 'privileged' &&
      [LABEL_PREFIX + mode, `${LABEL_PREFIX}${mode}-version`].some((label) => labels[label] !== undefined),
  );
  const text = ignored.map((mode) => `${mode}=${policyText(policy[mode])}`).join(', ');
  context.warn(`namespace ${goQuote(name)} is exempt from Pod Security, and the policy (${text}) will be ignored`);
  return true;
}
