// A request's body as an object of the endpoint's version.
import { goQuote } from '../lib/go-quote.js';
import type { HttpRequest } from '../lib/http.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { LARGE_BYTES } from '../lib/turns.js';
import {
  apiVersionFault,
  apiVersionOf,
  type GroupVersionKind,
  type KubeObject,
  parseApiVersion,
} from '../machinery/object.js';
import { FieldPath, invalid as invalidField } from '../machinery/field-error.js';
import { badRequest, invalid, type StatusError } from '../machinery/status.js';
import { noteOtherKind } from '../machinery/other-kind.js';
import type { KindVersion } from '../registry/kind.js';
import { typeOf } from '../schema/catalogue.js';
import type { StructType } from '../schema/type.js';
import type { Converter } from './convert-bytes.js';
import { decodeLarge } from './decode-large.js';
import { bodyMediaType } from './negotiate.js';
import type { MediaType } from './media-types.js';
import type { FieldValidation } from './query-options.js';
import { decodeObject, type Decoded, WireError } from './wire.js';

export interface Expected {
  readonly kind: GroupVersionKind;
  readonly type: StructType;
  readonly defaults?: ((object: KubeObject) => void) | undefined;
  readonly unconvertible?: KindVersion['unconvertible'];
  /** What is told of any body that cannot be read as it, where that is always the same. */
  readonly unread?: string;
  /** Nobody looks at what kind a custom resource says it is. */
  readonly anyKind?: boolean;
}

export interface BodyOptions {
  readonly mediaTypes: readonly MediaType[];
  readonly fieldValidation: FieldValidation;
  readonly warn: (text: string) => void;
}

/** Decodes, reports what does not belong there as the client asked, and fills in defaults. */
export function decodeBody(
  media: MediaType,
  body: Buffer,
  expected: Expected,
  options: Omit<BodyOptions, 'mediaTypes'>,
): KubeObject {
  let decoded: Decoded;
  try {
    decoded = decodeObject(media, expected.type, body, options.fieldValidation !== 'Ignore');
  } catch (error) {
    throw unreadBody(expected, body, error);
  }
  return finished(expected, body, decoded, options);
}

/** The same for a body of any size: one that is large is read in turns with others. */
export function readBody(
  converter: Converter,
  http: HttpRequest,
  body: Buffer,
  expected: Expected,
  options: BodyOptions,
): MaybePromise<KubeObject> {
  const media = bodyMediaType(http, options.mediaTypes);
  if (body.length <= LARGE_BYTES) return decodeBody(media, body, expected, options);
  return decodeLarge(converter, media, expected.type, body, options.fieldValidation !== 'Ignore').then(
    (decoded) => finished(expected, body, decoded, options),
    (error: unknown) => {
      throw unreadBody(expected, body, error);
    },
  );
}

function unreadBody(expected: Expected, body: Buffer, error: unknown): unknown {
  if (!(error instanceof WireError)) return error;
  return undecodable(expected, error.kind, error.apiVersion, error.message, body);
}

function finished(
  expected: Expected,
  body: Buffer,
  decoded: Decoded,
  options: Omit<BodyOptions, 'mediaTypes'>,
): KubeObject {
  const object = decoded.object as KubeObject;
  checkKind(expected, object, body, options);
  object.metadata ??= {};
  const why = expected.unconvertible?.(object);
  if (why !== undefined) throw undecodable(expected, expected.kind.kind, undefined, why, body);
  reportStrict(expected, object, decoded.strictErrors, options);
  object.kind = expected.kind.kind;
  object.apiVersion = apiVersionOf(expected.kind);
  expected.defaults?.(object);
  return object;
}

function checkKind(
  expected: Expected,
  object: KubeObject,
  body: Buffer,
  { fieldValidation }: Pick<BodyOptions, 'fieldValidation'>,
): void {
  if (expected.type.unstructured !== undefined) {
    if (!object.kind) {
      // Whoever looks closely looks before it is known what was expected.
      const kind = fieldValidation === 'Ignore' ? '' : undefined;
      throw undecodable(expected, kind, object.apiVersion, `Object 'Kind' is missing in '${body.toString()}'`, body);
    }
    const fault = apiVersionFault(object.apiVersion ?? '');
    if (fault !== undefined) throw undecodable(expected, undefined, object.apiVersion, fault, body);
    if (!object.apiVersion) throw otherVersion('', expected.kind);
    const isOther = expected.anyKind === true && object.kind !== expected.kind.kind;
    if (isOther) noteOtherKind(object);
    checkCustomKind(expected.kind, isOther ? { ...object, kind: expected.kind.kind } : object);
    return;
  }
  const kind = object.kind || expected.kind.kind;
  const apiVersion = object.apiVersion || apiVersionOf(expected.kind);
  const fault = apiVersionFault(apiVersion);
  if (fault !== undefined) throw undecodable(expected, undefined, apiVersion, fault, body);
  const sent = parseApiVersion(apiVersion);
  const same = kind === expected.kind.kind && apiVersion === apiVersionOf(expected.kind);
  if (same) return;
  if (typeOf(sent.group, sent.version, kind) === undefined) {
    throw undecodable(expected, kind, apiVersion, unknownKind(expected.kind, kind, apiVersion), body);
  }
  if (kind !== expected.kind.kind) {
    throw undecodable(expected, kind, apiVersion, unknownConversion({ ...sent, kind }, expected.kind), body);
  }
  throw otherVersion(apiVersion, expected.kind);
}

const otherVersion = (apiVersion: string, expected: GroupVersionKind): StatusError =>
  badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${apiVersionOf(expected)})`,
  );

const SCHEMES: Readonly<Record<string, string>> = {
  'apiextensions.k8s.io': 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55',
  'apiregistration.k8s.io': 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28',
};

/** The reference names the place its kinds are registered at; clients have come to see it. */
const schemeOf = (group: string): string => SCHEMES[group] ?? 'pkg/api/legacyscheme/scheme.go:30';

export const unknownKind = ({ group }: GroupVersionKind, kind: string, apiVersion: string): string =>
  `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme ${goQuote(schemeOf(group))}`;

export const unknownConversion = (from: GroupVersionKind, to: GroupVersionKind): string =>
  `converting (${from.version}.${from.kind}) to (${to.group.split('.')[0] || 'core'}.${to.kind}): unknown conversion`;

/** A custom resource says what it is: there is no type to tell it from. */
export function checkCustomKind(expected: GroupVersionKind, { kind, apiVersion, metadata }: KubeObject): void {
  if (!kind) throw badRequest("Object 'Kind' is missing in 'unstructured object has no kind'");
  if (!apiVersion) throw badRequest("Object 'apiVersion' is missing in 'unstructured object has no version'");
  if (apiVersion !== apiVersionOf(expected)) throw otherVersion(apiVersion, expected);
  if (kind === expected.kind) return;
  const error = invalidField(FieldPath.of('kind'), kind, `must be ${expected.kind}`);
  throw invalid({ group: expected.group, kind }, metadata?.name ?? '', [error]);
}

function reportStrict(
  expected: Expected,
  object: KubeObject,
  errors: readonly string[],
  options: Omit<BodyOptions, 'mediaTypes'>,
): void {
  if (errors.length === 0) return;
  if (options.fieldValidation === 'Warn') {
    for (const text of errors.flatMap(eachWarning)) options.warn(text);
    return;
  }
  const kind = object.kind || expected.kind.kind;
  const apiVersion = object.apiVersion || apiVersionOf(expected.kind);
  throw undecodable(expected, kind, apiVersion, `strict decoding error: ${errors.join(', ')}`, Buffer.alloc(0));
}

const YAML_ERRORS = 'yaml: unmarshal errors:\n';

/** What YAML says of several lines at once is a warning for each. */
export const eachWarning = (text: string): string[] =>
  text.startsWith(YAML_ERRORS)
    ? text
        .slice(YAML_ERRORS.length)
        .split('\n')
        .map((line) => line.trim())
    : [text];

function undecodable(
  expected: Expected,
  kind: string | undefined,
  apiVersion: string | undefined,
  why: string,
  body: Buffer,
): StatusError {
  const wanted = expected.kind.kind;
  if (expected.unread !== undefined) return badRequest(expected.unread);
  if (kind !== undefined) {
    const unstated = expected.type.unstructured === undefined ? expected.kind : { version: '' };
    const { version } = apiVersion ? parseApiVersion(apiVersion) : unstated;
    return badRequest(`${kind || wanted} in version ${goQuote(version)} cannot be handled as a ${wanted}: ${why}`);
  }
  return badRequest(`the object provided is unrecognized (must be of type ${wanted}): ${why} (${summaryOf(body)})`);
}

const SUMMARY_BYTES = 30;

function summaryOf(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const more = body.length > SUMMARY_BYTES ? ' ...' : '';
  const shown = body.subarray(0, SUMMARY_BYTES);
  return (body[0] === 0x7b ? shown.toString() : shown.toString('hex')) + more;
}
