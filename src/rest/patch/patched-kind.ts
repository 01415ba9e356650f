// A patch may have changed what an object says it is.
import { goQuote } from '../../lib/go/quote.js';
import { FieldPath, invalid as invalidField } from '../../machinery/field-error.js';
import {
  apiVersionFault,
  apiVersionOf,
  type GroupVersionKind,
  type JsonObject,
  meantVersion,
  parseApiVersion,
} from '../../machinery/object.js';
import { internalError, invalid } from '../../machinery/status.js';
import { typeOf } from '../../schema/catalogue.js';
import { DecodeError, decodeTree } from '../../schema/json/decode.js';
import { NULL_VERSION, sentKind } from '../../schema/json/sent-kind.js';
import { unknownConversion, unknownKind, versionMissing } from '../body/decode-body.js';

/** Fails with a DecodeError when it is no object of the kind any more, and leaves the tree as it is otherwise. */
export function checkPatchedKind(expected: GroupVersionKind, patched: JsonObject, shown: () => string): void {
  const sent = sentKind(patched);
  const fault = apiVersionFault(sent.apiVersion);
  if (fault !== undefined) throw new DecodeError(fault);
  const kind = sent.kind || expected.kind;
  const { group, version } = meantVersion(sent.apiVersion, expected);
  if (kind === expected.kind && version === expected.version && group === expected.group) return;
  if (version === '') throw new DecodeError(versionMissing(shown()));
  const type = typeOf(group, version, kind);
  const apiVersion = apiVersionOf({ group, version });
  if (type === undefined) throw new DecodeError(unknownKind(expected, kind, apiVersion));
  // Other versions of a kind are read alike.
  if (kind === expected.kind) return;
  decodeTree(type, patched, { strict: false });
  throw new DecodeError(unknownConversion({ group, version, kind }, expected));
}

/** The scale of a custom resource is read by kube-apiserver's client library, which knows scales alone. */
export function checkPatchedScale(expected: GroupVersionKind, patched: JsonObject): void {
  const sent = sentKind(patched);
  const kind = sent.kind || expected.kind;
  const apiVersion = sent.apiVersion || apiVersionOf(expected);
  if (kind === expected.kind && apiVersion === apiVersionOf(expected)) return;
  if (kind === expected.kind && FORMER_SCALES.has(apiVersion)) {
    const { version } = parseApiVersion(apiVersion);
    throw new DecodeError(`converting (${version}.${kind}) to (${expected.version}.${kind}): unknown conversion`);
  }
  const where = `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)}`;
  throw new DecodeError(`${where} in scheme "k8s.io/client-go/scale/util.go:146"`);
}

const FORMER_SCALES = new Set(['extensions/v1beta1', 'apps/v1beta1', 'apps/v1beta2']);

/** A custom resource is read as whatever it says it is, if it does so. */
export function checkPatchedCustomKind(patched: JsonObject, shown: () => string): void {
  const { kind, apiVersion } = sentKind(patched);
  const fault = apiVersionFault(apiVersion);
  if (fault !== undefined) throw new DecodeError(fault);
  if (kind === '') throw new DecodeError(`Object 'Kind' is missing in '${shown()}'`);
  if (patched['apiVersion'] === null) throw new DecodeError(NULL_VERSION);
}

/** It is refused for what it says once it has been read, unless it is its status that is patched: that stays one of what is there. */
export function checkCustomKindKept(expected: GroupVersionKind, patched: JsonObject, subresource: string): void {
  const { kind, apiVersion } = sentKind(patched);
  const wanted = apiVersionOf(expected);
  if (kind === expected.kind && apiVersion === wanted) return;
  const said = parseApiVersion(apiVersion);
  if (said.version === '') throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
  if (subresource === 'status') return;
  const { name } = (patched['metadata'] ?? {}) as JsonObject;
  const shown = apiVersionOf(said);
  throw invalid({ group: said.group, kind }, typeof name === 'string' ? name : '', [
    ...(kind === expected.kind ? [] : [invalidField(FieldPath.of('kind'), kind, `must be ${expected.kind}`)]),
    ...(shown === wanted ? [] : [invalidField(FieldPath.of('apiVersion'), shown, `must be ${wanted}`)]),
  ]);
}
