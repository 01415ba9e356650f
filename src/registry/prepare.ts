// The rules that an object passes before it is stored: what a kind sets and clears, and what it refuses. They need
// nothing but the object, what was there before, and the kind.
import { append } from '../lib/values/append.js';
import { invalid } from '../machinery/status.js';
import { explicitEmptyOf, holdsExplicitEmpty } from '../machinery/explicit-empty.js';
import { type FieldErrors, FieldPath } from '../machinery/field-error.js';
import type { JsonObject, KubeObject, ObjectMeta } from '../machinery/object.js';
import {
  validateBesideName,
  validateKubeFinalizers,
  validateMetaChange,
  validateObjectMetaUpdate,
  validateObjectName,
} from '../machinery/validation/object-meta.js';
import { nameIsDnsSubdomain, pathSegmentName } from '../machinery/validation/names.js';
import type { KindDefinition, LifeContext, MetadataErrors, StatusStrategy, Strategy } from './kind.js';
import type { ResourceRegistry } from './registry.js';
import { matchNamespace } from './system-fields.js';

export type RuledKind = Pick<ResourceRegistry, 'kind' | 'groupKind' | 'equal'>;

/** Through which endpoint an object is changed, and by whom. */
export interface ChangeContext {
  /** '' for the object itself, `status` or another subresource that writes it. */
  readonly endpoint: string;
  readonly context: LifeContext;
}

const METADATA = FieldPath.of('metadata');

/** The rules every new object passes, also one that an update or an apply creates. */
export function prepareNew(registry: RuledKind, object: KubeObject, context: LifeContext): void {
  const { kind, groupKind } = registry;
  const { strategy } = kind;
  matchNamespace(object, kind.namespaced, context.namespace);
  const tree: JsonObject = object;
  if (strategy.hasStatus && !strategy.replacesStatus && tree['status'] !== undefined) delete tree['status'];
  if (strategy.hasGeneration ?? strategy.hasStatus) object.metadata.generation = 1;
  strategy.prepareForCreate?.(object, context);
  const { metadata } = object;
  const own = strategy.validate(object, context);
  const errors = strategy.metadataRules?.checkedLast && own.length > 0 ? [] : newMetadataErrors(kind, metadata);
  append(errors, own);
  // Whatever a kind calls a name, it must also be one step of a path.
  if (errors.length === 0) append(errors, validateObjectName(metadata, pathSegmentName, METADATA));
  if (errors.length > 0) throw invalid(groupKind, metadata.name ?? '', errors);
  const warnings = strategy.warningsOnCreate?.(object, context);
  if (warnings !== undefined) for (const text of warnings) context.warn(text);
  strategy.canonicalize?.(object);
}

/** `beside`: what is wrong beside the name, from whoever has looked already. */
function newMetadataErrors(
  { namespaced, strategy }: KindDefinition,
  metadata: ObjectMeta,
  beside: FieldErrors = validateBesideName(metadata, namespaced, METADATA),
): FieldErrors {
  const validateName = strategy.metadataRules?.validateName?.bind(strategy.metadataRules) ?? nameIsDnsSubdomain;
  const errors = validateObjectName(metadata, validateName, METADATA);
  append(errors, beside, kubeFinalizerErrors(strategy, metadata));
  return errors;
}

const kubeFinalizerErrors = ({ metadataRules }: Strategy, { finalizers }: ObjectMeta): FieldErrors =>
  metadataRules?.anyFinalizer || finalizers === undefined
    ? []
    : validateKubeFinalizers(finalizers, METADATA.child('finalizers'));

/** Sets what an update cannot change back to what it was, then runs the kind's rules. */
export function prepareChanged(
  registry: RuledKind,
  request: ChangeContext,
  object: KubeObject,
  stored: Readonly<KubeObject>,
): void {
  const { kind } = registry;
  const { context } = request;
  const old = kind.strategy.asServed?.(stored) ?? stored;
  const { metadata: sent } = object;
  matchNamespace(object, kind.namespaced, context.namespace);
  if (old.metadata.generation !== undefined) sent.generation = old.metadata.generation;
  else if (sent.generation !== undefined) delete sent.generation;
  const rules = rulesOf(registry, request.endpoint, object, old);
  rules.prepareForUpdate?.(object, old, context);
  // Which may be the old one now: then nothing is looked at of what was sent.
  const { metadata } = object;
  metadata.uid ||= old.metadata.uid ?? '';
  if (old.metadata.creationTimestamp !== undefined) metadata.creationTimestamp = old.metadata.creationTimestamp;
  if (old.metadata.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.metadata.deletionTimestamp;
  if (old.metadata.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds ??= old.metadata.deletionGracePeriodSeconds;
  }
  const errors = validateObjectName(metadata, pathSegmentName, METADATA);
  const beside = validateBesideName(metadata, kind.namespaced, METADATA);
  const changed = (beside.length === 0 ? validateMetaChange : validateObjectMetaUpdate)(
    metadata,
    old.metadata,
    METADATA,
  );
  append(errors, beside, changed);
  const metadataErrors = new ChangedMetadataErrors(kind, metadata, { beside, changed });
  if (rules.metadataRules?.placedOnUpdate !== true) append(errors, metadataErrors.change);
  append(errors, rules.validateUpdate(object, old, context, metadataErrors));
  if (errors.length > 0) throw invalid(registry.groupKind, metadata.name ?? '', errors);
  const warnings = rules.warningsOnUpdate?.(object, old, context);
  if (warnings !== undefined) for (const text of warnings) context.warn(text);
  kind.strategy.canonicalize?.(object);
}

// hot: a class, because a literal with getters is expensive.
class ChangedMetadataErrors implements MetadataErrors {
  constructor(
    private readonly kind: KindDefinition,
    private readonly metadata: ObjectMeta,
    private readonly found: { readonly beside: FieldErrors; readonly changed: FieldErrors },
  ) {}

  get whole(): FieldErrors {
    return newMetadataErrors(this.kind, this.metadata, this.found.beside);
  }

  get change(): FieldErrors {
    return [...this.found.changed, ...kubeFinalizerErrors(this.kind.strategy, this.metadata)];
  }
}

/** The rules of the endpoint that is written through, with the members it may not touch already put back. */
function rulesOf(registry: RuledKind, endpoint: string, object: KubeObject, old: Readonly<KubeObject>): StatusStrategy {
  const { strategy, subresources } = registry.kind;
  if (endpoint === '' || endpoint === 'scale') {
    if (strategy.hasStatus) putBack(object, old, 'status');
    if (strategy.hasGeneration ?? strategy.hasStatus) raiseGeneration(registry, object, old);
    return strategy;
  }
  if (endpoint === 'status') {
    for (const member of contentOf(old)) putBack(object, old, member);
    for (const member of contentOf(object)) putBack(object, old, member);
    if (strategy.status === undefined) throw new Error(`${registry.kind.kind} has no rules for its status`);
    return strategy.status;
  }
  const rules = subresources?.[endpoint]?.update;
  if (rules === undefined) throw new Error(`${registry.kind.kind} has no rules for its subresource ${endpoint}`);
  return rules;
}

function raiseGeneration(registry: RuledKind, object: KubeObject, old: Readonly<KubeObject>): void {
  const a = object as JsonObject & KubeObject;
  const b = old as JsonObject & KubeObject;
  const { emptyIsChange = false } = registry.kind.strategy;
  const differs = (member: string): boolean =>
    !registry.equal(member, a[member], b[member]) || (emptyIsChange && holdsExplicitEmpty(a[member]));
  const changed =
    contentOf(a).some(differs) || contentOf(b).some((member) => a[member] === undefined && differs(member));
  const emptied = emptyIsChange && emptiedMembers(object).length > 0;
  if (changed || emptied) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

/** Those of the object itself that were sent empty, and so are none. */
const emptiedMembers = (object: KubeObject): string[] =>
  Object.keys(explicitEmptyOf(object) ?? {}).filter(
    (member) => member !== 'metadata' && member !== 'status' && !Object.hasOwn(object, member),
  );

const contentOf = (object: object): string[] =>
  Object.keys(object).filter((member) => !BESIDE_CONTENT.includes(member));

const BESIDE_CONTENT = ['kind', 'apiVersion', 'metadata', 'status'];

function putBack(object: object, old: object, member: string): void {
  const to = object as JsonObject;
  const from = old as JsonObject;
  if (to[member] === from[member]) return;
  if (from[member] === undefined) delete to[member];
  else to[member] = from[member];
}
