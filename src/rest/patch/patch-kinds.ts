// The kinds of patch, each as a function from the current object to the wanted one.
import { FloatLiteral, isJsonObject } from '../../lib/json/float-literal.js';
import { errorText } from '../../lib/text/error-text.js';
import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import { goJsonKind } from '../../lib/go/json-kind.js';
import { copyBesideSteps, deepCopySteps } from '../../schema/deep-copy.js';
import { FieldPath, invalid as invalidField } from '../../machinery/field-error.js';
import { applyJsonPatch, JsonPatchError, jsonPatchOperations, jsonPatchRefused } from '../../machinery/json-patch.js';
import { mergePatchSteps } from '../../machinery/merge-patch.js';
import {
  apiVersionOf,
  type GroupVersionKind,
  type JsonObject,
  type KubeObject,
  meantVersion,
} from '../../machinery/object.js';
import { badRequest, invalid, requestEntityTooLarge, StatusError } from '../../machinery/status.js';
import { applySteps, unconvertibleApply, unfitApply } from '../../schema/apply/apply-patch.js';
import { isManagedFieldsReset } from '../../schema/apply/managers.js';
import { OtherVersionError, type Versions } from '../../schema/apply/versions.js';
import { DecodeError, decodeTree } from '../../schema/json/decode.js';
import { maxJsonDepth } from '../../schema/json/parse.js';
import { encodeTree } from '../../schema/json/encode.js';
import { strategicMergeSteps } from '../../schema/patch/strategic-merge.js';
import type { StructType } from '../../schema/type.js';
import { eachWarning } from '../body/decode-body.js';
import type { PatchTree, ReadPatchOptions } from '../body/decode-large.js';
import { jsonPatchShape, mergePatchShape, strategicPatchShape } from './patch-shape.js';
import { patchedAsRead, strategicPatchText } from './patched-as-read.js';
import { checkCustomKindKept, checkPatchedCustomKind, checkPatchedKind } from './patched-kind.js';
import type { PatchOptions } from '../contract/query-options.js';
import { restoreError } from './restore-error.js';

export type PatchKind = 'json' | 'merge' | 'strategic' | 'apply' | 'apply-cbor';

export const isApply = (kind: PatchKind): boolean => kind === 'apply' || kind === 'apply-cbor';

export interface PatchTarget {
  readonly type: StructType;
  readonly kind: GroupVersionKind;
  defaults(object: KubeObject): void;
  unconvertible?(object: Readonly<KubeObject>): string | undefined;
  /** Throws a DecodeError when it is another kind that the tree says to be; where that is not as all kinds have it. */
  checkKind?(patched: JsonObject): void;
  /** Notes what the writer changed in managedFields. */
  note(live: Readonly<KubeObject>, object: KubeObject, manager: string, reset: boolean): StepGenerator<void>;
  readonly resetFields: readonly (readonly string[])[];
  readonly versions?: Versions;
  /** Only the metadata and status come from the patched object: the rest may be the current object's own. */
  readonly statusOnly?: boolean;
}

export interface PatchContext {
  readonly target: PatchTarget;
  readonly options: Omit<PatchOptions, 'dryRun' | 'sentFieldValidation'>;
  /** Who patches, when not by apply. */
  readonly manager: string;
  readonly subresource: string;
  readonly now: Date;
  warn(text: string): void;
}

export interface Patch {
  /** Makes the wanted object from the current one; a new object comes only from an apply. */
  readonly steps: (live: Readonly<KubeObject> | undefined) => StepGenerator<KubeObject>;
  /** How many times as large as the larger of both, patch and current object, the wanted one may be. */
  readonly growth: number;
}

/** Fails with a DecodeError when there is no patch in what was sent. */
export type ReadTree = (options: ReadPatchOptions) => PatchTree;

export function preparePatch(kind: PatchKind, read: ReadTree, context: PatchContext): Patch {
  if (isApply(kind)) return prepareApply(kind, read, context);
  const { value: patch, duplicates, unmatchable } = parsePatch(kind, read, context);
  return {
    steps: (live) => patchSteps(kind, live, { patch, duplicates, unmatchable }, context),
    growth: kind === 'json' ? growthBy(patch) : 1,
  };
}

/** Each copy may be one of all there is by then. */
function growthBy(patch: unknown): number {
  const operations: readonly unknown[] = Array.isArray(patch) ? patch : [];
  const copies = operations.filter((operation) => isJsonObject(operation) && operation['op'] === 'copy').length;
  return 2 ** Math.min(copies, MAX_DOUBLINGS);
}

/** More than may be copied. */
const MAX_DOUBLINGS = 24;

interface ReadPatch {
  readonly patch: unknown;
  readonly duplicates: readonly string[];
  readonly unmatchable: ReadonlySet<number> | undefined;
}

// hot: on its own, for the engine is slow to build a generator.
function* patchSteps(
  kind: PatchKind,
  live: Readonly<KubeObject> | undefined,
  { patch, duplicates, unmatchable }: ReadPatch,
  context: PatchContext,
): StepGenerator<KubeObject> {
  if (live === undefined) throw new Error('only an apply creates what it patches');
  const patched = yield* patchTree({ kind, live, patch, target: context.target, unmatchable });
  const reset = isReset(patched);
  const { type } = context.target;
  const again = (document: Readonly<KubeObject>): unknown =>
    runSync(patchTree({ kind, live: document, patch, target: context.target }));
  const operations = kind === 'json' ? patch : undefined;
  const read = (): unknown => (kind === 'strategic' ? patched : patchedAsRead({ live, type, operations }, again));
  const shown = (): string =>
    kind === 'strategic' ? strategicPatchText(live, patch as JsonObject, type) : encodeTree(read(), 'asIs');
  const kept = context.target.statusOnly === true ? untouchedMembers(patched, live) : undefined;
  const object = yield* decodePatched({ kind, patched, read, kept, shown, duplicates, context });
  const { target } = context;
  const said = saidOf(patched, target);
  if (said === 'unknown') delete object.metadata.managedFields;
  else yield* target.note(live, object, context.manager, reset);
  if (said !== 'own' && fitOther(target, object).length > 0) delete object.metadata.managedFields;
  return object;
}

/** The kind that a custom resource states; the fields of an unknown kind belong to no type. */
function saidOf({ kind, apiVersion }: JsonObject, target: PatchTarget): 'own' | 'another version' | 'unknown' {
  if (target.type.unstructured === undefined) return 'own';
  if (kind !== target.kind.kind || typeof apiVersion !== 'string') return 'unknown';
  if (apiVersion === apiVersionOf(target.kind)) return 'own';
  return isVersion(target.versions, apiVersion) ? 'another version' : 'unknown';
}

function isVersion(versions: Versions | undefined, apiVersion: string): boolean {
  try {
    return versions?.typeAt(apiVersion) !== undefined;
  } catch (error) {
    if (error instanceof OtherVersionError) return false;
    throw error;
  }
}

/** What was read as something else is one of the endpoint's version from now on. Answers what that does not know. */
function fitOther(target: PatchTarget, object: KubeObject): readonly string[] {
  const unknown = target.type.unstructured?.coerce(object as JsonObject & KubeObject, true) ?? [];
  target.defaults(object);
  return unknown;
}

function parsePatch(
  kind: PatchKind,
  read: ReadTree,
  { options, target }: PatchContext,
): { value: unknown; duplicates: string[]; unmatchable?: ReadonlySet<number> | undefined } {
  const strict = options.fieldValidation !== 'Ignore';
  // What is patched as text is decoded by its type afterwards, and no integer type accepts `1.0`.
  const keepFloats = kind !== 'strategic' && target.type.unstructured === undefined;
  try {
    const { value, duplicates, unmatchable: unmatchableIn } = read({ keepFloats });
    if (keepFloats && strict) checkFinite(value);
    const patch = shapedPatch(kind, value, strict);
    const unmatchable = kind === 'json' ? unmatchableIn?.() : undefined;
    if (!strict) return { value: patch, duplicates: [], unmatchable };
    return { value: patch, duplicates: kind === 'json' ? jsonPatchStrict(value, duplicates) : duplicates, unmatchable };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(unreadText(kind, strict, error));
  }
}

/** Who looks for unknown fields reads all numbers, too. */
function checkFinite(tree: unknown): void {
  if (typeof tree !== 'object' || tree === null) return;
  if (!(tree instanceof FloatLiteral)) for (const member of Object.values(tree)) checkFinite(member);
  else if (!Number.isFinite(tree.value)) {
    throw new DecodeError(`json: cannot unmarshal number ${tree.text} into Go value of type float64`);
  }
}

/** Strict validation reads a patch once before, and reports what is wrong with it. */
function unreadText(kind: PatchKind, strict: boolean, { message }: DecodeError): string {
  if (kind === 'strategic') return message;
  if (strict) return `error decoding patch: ${message}`;
  return kind === 'merge' ? 'Invalid JSON Patch' : message;
}

function shapedPatch(kind: PatchKind, patch: unknown, strict: boolean): unknown {
  if (kind === 'strategic') return strategicPatchShape(patch);
  return kind === 'json' ? jsonPatchShape(patch, strict) : mergePatchShape(patch, strict);
}

const OPERATION_MEMBERS = ['op', 'path', 'from', 'value'];

/** The operations of a JSON patch are decoded strictly, too. */
function jsonPatchStrict(patch: unknown, duplicates: readonly string[]): string[] {
  const errors = [...duplicates];
  for (const [i, operation] of (Array.isArray(patch) ? patch : []).entries()) {
    for (const member of Object.keys((operation ?? {}) as object)) {
      if (!OPERATION_MEMBERS.includes(member)) errors.push(`unknown field "[${i}].${member}"`);
    }
  }
  return errors.map((text) => `json patch ${text}`);
}

interface TreePatch {
  readonly kind: PatchKind;
  readonly live: Readonly<KubeObject>;
  readonly patch: unknown;
  readonly target: PatchTarget;
  readonly unmatchable?: ReadonlySet<number> | undefined;
}

function patchTree({ kind, live, patch, target, unmatchable }: TreePatch): StepGenerator<JsonObject> {
  const document = live as unknown as JsonObject;
  switch (kind) {
    case 'json':
      return jsonPatchSteps(document, patch, unmatchable);
    case 'merge':
      return mergePatchSteps(document, patch);
    case 'strategic':
      return strategicMergeSteps(document, patch as JsonObject, target.type);
    case 'apply':
    case 'apply-cbor':
      throw new Error('an apply is not a patch of the tree');
  }
}

function* jsonPatchSteps(
  document: JsonObject,
  patch: unknown,
  unmatchable: ReadonlySet<number> | undefined,
): StepGenerator<JsonObject> {
  try {
    refuseLong(jsonPatchOperations(patch));
    const patched = applyJsonPatch(document, patch, unmatchable) as JsonObject;
    // It may be large, and what comes next is a step of its own.
    yield;
    if (isDeeperThan(maxJsonDepth, patched)) throw jsonPatchRefused();
    return patched;
  } catch (error) {
    // Operations put trees within trees: how deep they go shows only now, and may be deeper than the stack.
    throw error instanceof JsonPatchError || error instanceof RangeError ? jsonPatchRefused() : error;
  }
}

const MAX_OPERATIONS = 10_000;

/** Clients are held to it, webhooks and policies are not. */
function refuseLong({ length }: readonly unknown[]): void {
  if (length <= MAX_OPERATIONS) return;
  throw requestEntityTooLarge(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${length}`);
}

const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member)));

function isReset(patched: JsonObject): boolean {
  return isManagedFieldsReset((patched['metadata'] as { managedFields?: unknown } | null | undefined)?.managedFields);
}

/** Members beside the metadata that are the current object's own: they have their form, and nobody changes them. */
function untouchedMembers(patched: JsonObject, live: Readonly<JsonObject>): ReadonlySet<unknown> | undefined {
  let untouched: Set<unknown> | undefined;
  for (const name in patched) {
    const member = patched[name];
    if (typeof member !== 'object' || member === null || name === 'metadata' || member !== live[name]) continue;
    (untouched ??= new Set()).add(member);
  }
  return untouched;
}

interface PatchedTree {
  readonly kind: PatchKind;
  readonly patched: JsonObject;
  /** The same as kube-apiserver reads it. */
  readonly read: () => unknown;
  readonly kept: ReadonlySet<unknown> | undefined;
  readonly shown: () => string;
  readonly duplicates: readonly string[];
  readonly context: PatchContext;
}

function* decodePatched(tree: PatchedTree): StepGenerator<KubeObject> {
  const { kind, patched, read, kept, shown, duplicates, context } = tree;
  const { target, options } = context;
  const strict = options.fieldValidation !== 'Ignore';
  // What has no version is read in the form kube-apiserver keeps to itself, where nothing of it is found.
  const isCustom = target.type.unstructured !== undefined;
  const isUnread =
    kind !== 'strategic' &&
    target.checkKind === undefined &&
    !isCustom &&
    leavesVersion(patched['apiVersion'], target.kind);
  let decoded: { object: object; strictErrors: readonly string[] };
  const copy = kept === undefined ? yield* deepCopySteps(patched) : yield* copyBesideSteps(patched, kept);
  try {
    // A strategic patch is made on a struct, which has its kind from elsewhere.
    if (kind !== 'strategic') {
      if (target.checkKind !== undefined) target.checkKind(copy);
      else if (target.type.unstructured === undefined) checkPatchedKind(target.kind, copy, shown);
      else checkPatchedCustomKind(copy, shown);
    }
    decoded = isUnread
      ? decodeUnread(target, patched)
      : decodeTree(target.type, copy, { strict, original: read, done: kept });
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw refusedPatch(shown(), kind === 'strategic' ? restoreError(error) : error.message);
  }
  const object = decoded.object as KubeObject;
  object.metadata ??= {};
  const unconvertible = target.unconvertible?.(object);
  if (unconvertible !== undefined) {
    throw kind === 'strategic' ? new StatusError(500, '', unconvertible) : refusedPatch(shown(), unconvertible);
  }
  if (duplicates.length > 0 || (strict && decoded.strictErrors.length > 0)) {
    // Of the result of a strategic patch kube-apiserver reports by name, of the rest in the order it is read.
    const unknown = kind === 'strategic' ? decoded.strictErrors.toSorted() : decoded.strictErrors;
    const errors = [...duplicates, ...(strict ? unknown : [])];
    if (options.fieldValidation === 'Strict')
      throw refusedPatch(shown(), `strict decoding error: ${errors.join(', ')}`);
    for (const text of errors) context.warn(text);
  }
  if (isCustom) checkCustomKindKept(target.kind, patched, context.subresource);
  yield;
  object.kind = target.kind.kind;
  object.apiVersion = apiVersionOf(target.kind);
  target.defaults(object);
  return object;
}

const leavesVersion = (apiVersion: unknown, wanted: GroupVersionKind): boolean =>
  typeof apiVersion !== 'string' ? !apiVersion : meantVersion(apiVersion, wanted) === wanted;

function decodeUnread({ type }: PatchTarget, patched: JsonObject): ReturnType<typeof decodeTree> {
  const names = Object.keys(patched).filter((name) => name !== 'kind' && name !== 'apiVersion');
  const strictErrors = names.sort().map((name) => `unknown field "${name}"`);
  return { object: decodeTree(type, {}, { strict: false }).object, strictErrors };
}

const refusedPatch = (shown: string, why: string): StatusError =>
  invalid({ group: '', kind: '' }, '', [invalidField(FieldPath.of('patch'), shown, why)]);

function prepareApply(kind: PatchKind, read: ReadTree, context: PatchContext): Patch {
  const applied = parseApplied(kind, read);
  return { steps: (live) => applyOver(live, applied, context), growth: 1 };
}

function* applyOver(
  live: Readonly<KubeObject> | undefined,
  { value, strictError }: Applied,
  context: PatchContext,
): StepGenerator<KubeObject> {
  const { target, options } = context;
  const applied = yield* applySteps({
    type: target.type,
    kind: target.kind.kind,
    apiVersion: apiVersionOf(target.kind),
    live: live as unknown as JsonObject | undefined,
    patch: value,
    manager: options.fieldManager,
    force: options.force,
    subresource: context.subresource,
    time: context.now,
    resetFields: target.resetFields,
    ...(target.versions !== undefined && { versions: target.versions }),
  });
  yield;
  if (strictError !== undefined && options.fieldValidation !== 'Ignore') {
    if (options.fieldValidation === 'Strict') {
      throw badRequest(`error strict decoding YAML: ${YAML_TO_JSON}${strictError}`);
    }
    for (const text of eachWarning(strictError)) context.warn(text);
  }
  const object = decodeApplied(target.type, applied, value);
  yield;
  const why = target.unconvertible?.(object);
  if (why !== undefined) throw unconvertibleApply(value, why);
  target.defaults(object);
  return object;
}

interface Applied {
  readonly value: JsonObject;
  readonly strictError?: string;
}

/** Decodes an applied configuration; its errors are those of kube-apiserver's decoders. */
function parseApplied(kind: PatchKind, read: ReadTree): Applied {
  const { value, strictError } = readApplied(kind, read);
  // Nothing is read as an object that has nothing.
  if (value === null || value === undefined) return { value: {} };
  if (!isJsonObject(value)) {
    const reader = kind === 'apply-cbor' ? 'cbor:' : 'error unmarshaling JSON: while decoding JSON: json:';
    const why = `${reader} cannot unmarshal ${goJsonKind(value)} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding YAML: ${why}`);
  }
  return { value, ...(strictError !== undefined && { strictError }) };
}

function readApplied(kind: PatchKind, read: ReadTree): PatchTree {
  try {
    return read({});
  } catch (error) {
    throw badRequest(`error decoding YAML: ${kind === 'apply-cbor' ? '' : YAML_TO_JSON}${errorText(error)}`);
  }
}

/** YAML is converted to JSON first, and distinguished by that from what JSON does not accept. */
const YAML_TO_JSON = 'error converting YAML to JSON: ';

function decodeApplied(type: StructType, applied: JsonObject, patch: Readonly<JsonObject>): KubeObject {
  const options = { strict: false, keepNulls: true };
  const decode = (): KubeObject => decodeTree(type, applied, options).object as unknown as KubeObject;
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    if (type.unstructured === undefined) throw unfitApply(patch, restoreError(error));
    // Apply accepts times and numbers of the wrong type: nobody decodes those of a custom resource.
    type.unstructured.dropUnreadable(applied);
    return decode();
  }
}
