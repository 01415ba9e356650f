// A request's body as an object of the endpoint's version.
import { goQuote } from '../../lib/go/quote.js';
import type { HttpRequest } from '../../lib/http/http.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { workOn } from '../../lib/scheduling/sized-work.js';
import {
  apiVersionFault,
  apiVersionOf,
  type GroupVersionKind,
  type JsonObject,
  type KubeObject,
  meantVersion,
  parseApiVersion,
} from '../../machinery/object.js';
import { FieldPath, invalid as invalidField } from '../../machinery/field-error.js';
import { badRequest, invalid, type StatusError } from '../../machinery/status.js';
import { noteOtherKind } from '../../machinery/other-kind.js';
import type { KindVersion } from '../../registry/kind.js';
import { typeOf } from '../../schema/catalogue.js';
import type { StructType } from '../../schema/type.js';
import type { Converter } from '../wire/convert-bytes.js';
import { decodeLarge } from './decode-large.js';
import { bodyMediaType } from '../wire/negotiate.js';
import type { MediaType } from '../wire/media-types.js';
import type { FieldValidation } from '../contract/query-options.js';
import { decodeObject, type Decoded, WireError } from '../wire/codec.js';

export interface Expected {
  readonly kind: GroupVersionKind;
  readonly type: StructType;
  readonly defaults?: ((object: KubeObject) => void) | undefined;
  readonly unconvertible?: KindVersion['unconvertible'];
  /** The error for any body that cannot be decoded, where it is always one text. */
  readonly unread?: string;
  /** Nobody looks at what kind a custom resource says it is. */
  readonly anyKind?: boolean;
}

export interface BodyOptions {
  readonly converter: Converter;
  readonly mediaTypes: readonly MediaType[];
  readonly fieldValidation: FieldValidation;
  readonly warn: (text: string) => void;
}

/** Decodes, reports unknown fields as the client requested, and fills in defaults. */
export function decodeBody(
  media: MediaType,
  body: Buffer,
  expected: Expected,
  options: Omit<BodyOptions, 'converter' | 'mediaTypes'>,
): KubeObject {
  let decoded: Decoded;
  try {
    decoded = decodeObject(media, expected.type, body, options.fieldValidation !== 'Ignore');
  } catch (error) {
    throw unreadBody(expected, { media, body }, error);
  }
  return finished(expected, { media, body }, decoded, options);
}

/** Reads a body of any size: one that is large is read cooperatively. */
export function readBody(
  http: HttpRequest,
  body: Buffer,
  expected: Expected,
  options: BodyOptions,
): MaybePromise<KubeObject> {
  const media = bodyMediaType(http, options.mediaTypes);
  if (!workOn(body.length).isLarge) return decodeBody(media, body, expected, options);
  return decodeLarge(options.converter, {
    media,
    type: expected.type,
    bytes: body,
    strict: options.fieldValidation !== 'Ignore',
  }).then(
    (decoded) => finished(expected, { media, body }, decoded, options),
    (error: unknown) => {
      throw unreadBody(expected, { media, body }, error);
    },
  );
}

interface Sent {
  readonly media: MediaType;
  readonly body: Buffer;
}

function unreadBody(expected: Expected, sent: Sent, error: unknown): unknown {
  if (!(error instanceof WireError)) return error;
  const { kind, apiVersion } = error;
  const other = kind === undefined ? undefined : otherKind(expected, { kind, apiVersion }, sent);
  return other ?? undecodable({ expected, kind, apiVersion, why: error.message, body: sent.body });
}

function finished(
  expected: Expected,
  sent: Sent,
  decoded: Decoded,
  options: Omit<BodyOptions, 'converter' | 'mediaTypes'>,
): KubeObject {
  const object = decoded.object as KubeObject;
  checkKind(expected, object, sent, options);
  // A custom resource is read as what it says it is, and only then held against what was expected.
  if (expected.type.unstructured !== undefined) {
    reportStrict(expected, object, decoded.strictErrors, options);
    adoptCustomKind(expected, object);
  }
  object.metadata ??= {};
  const why = expected.unconvertible?.(object);
  if (why !== undefined) throw undecodable({ expected, kind: expected.kind.kind, why, body: sent.body });
  if (expected.type.unstructured === undefined) reportStrict(expected, object, decoded.strictErrors, options);
  object.kind = expected.kind.kind;
  object.apiVersion = apiVersionOf(expected.kind);
  expected.defaults?.(object);
  return object;
}

function checkKind(
  expected: Expected,
  object: KubeObject,
  sent: Sent,
  { fieldValidation }: Pick<BodyOptions, 'fieldValidation'>,
): void {
  if (expected.type.unstructured !== undefined) {
    const { body } = sent;
    const fault = apiVersionFault(object.apiVersion ?? '');
    if (fault !== undefined) throw undecodable({ expected, apiVersion: object.apiVersion, why: fault, body });
    if (!object.kind) {
      // Whoever looks closely looks before it is known what was expected.
      const kind = fieldValidation === 'Ignore' ? '' : undefined;
      throw undecodable({
        expected,
        kind,
        apiVersion: object.apiVersion,
        why: `Object 'Kind' is missing in '${body.toString()}'`,
        body,
      });
    }
    return;
  }
  const other = otherKind(expected, object, sent);
  if (other !== undefined) throw other;
}

function adoptCustomKind(expected: Expected, object: KubeObject): void {
  if (!object.apiVersion) throw otherVersion('', expected.kind);
  if (expected.anyKind !== true || object.kind === expected.kind.kind) {
    checkCustomKind(expected.kind, object);
    return;
  }
  noteOtherKind(object);
  checkCustomKind(expected.kind, { ...object, kind: expected.kind.kind });
  expected.type.unstructured?.coerce(object as JsonObject & KubeObject, false);
}

/** Why a body that says it is something else is refused: it is read as that first. Undefined for the kind that is expected. */
function otherKind(
  expected: Expected,
  said: { readonly kind?: string | undefined; readonly apiVersion?: string | undefined },
  { media, body }: Sent,
): StatusError | undefined {
  if (expected.type.unstructured !== undefined) return undefined;
  const kind = said.kind || expected.kind.kind;
  const fault = apiVersionFault(said.apiVersion ?? '');
  if (fault !== undefined) return undecodable({ expected, apiVersion: said.apiVersion, why: fault, body });
  const { group, version } = meantVersion(said.apiVersion ?? '', expected.kind);
  if (kind === expected.kind.kind && version === expected.kind.version && group === expected.kind.group)
    return undefined;
  const apiVersion = apiVersionOf({ group, version });
  if (version === '') return undecodable({ expected, kind, apiVersion, why: versionMissing(body.toString()), body });
  const type = typeOf(group, version, kind);
  if (type === undefined) {
    return undecodable({ expected, kind, apiVersion, why: unknownKind(expected.kind, kind, apiVersion), body });
  }
  const why = workOn(body.length).isLarge ? undefined : unreadAs(type, media, body);
  if (why !== undefined) return undecodable({ expected, kind, apiVersion, why, body });
  if (kind === expected.kind.kind) return otherVersion(apiVersion, expected.kind);
  return undecodable({
    expected,
    kind,
    apiVersion,
    why: unknownConversion({ group, version, kind }, expected.kind),
    body,
  });
}

function unreadAs(type: StructType, media: MediaType, body: Buffer): string | undefined {
  try {
    decodeObject(media, type, body, false);
    return undefined;
  } catch (error) {
    if (error instanceof WireError) return error.message;
    throw error;
  }
}

const otherVersion = (apiVersion: string, expected: GroupVersionKind): StatusError =>
  badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${apiVersionOf(expected)})`,
  );

const SCHEMES: Readonly<Record<string, string>> = {
  'apiextensions.k8s.io': 'k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55',
  'apiregistration.k8s.io': 'k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28',
};

/** kube-apiserver names the place its kinds are registered at; clients have come to see it. */
const schemeOf = (group: string): string => SCHEMES[group] ?? 'pkg/api/legacyscheme/scheme.go:30';

export function unknownKind({ group }: GroupVersionKind, kind: string, apiVersion: string): string {
  const sent = parseApiVersion(apiVersion);
  const where =
    sent.version === '__internal'
      ? `the internal version of group ${goQuote(sent.group)}`
      : `version ${goQuote(apiVersion)}`;
  return `no kind ${goQuote(kind)} is registered for ${where} in scheme ${goQuote(schemeOf(group))}`;
}

export const versionMissing = (text: string): string => `Object 'apiVersion' is missing in '${text}'`;

export const unknownConversion = (from: GroupVersionKind, to: GroupVersionKind): string =>
  `converting (${from.version}.${from.kind}) to (${to.group.split('.')[0] || 'core'}.${to.kind}): unknown conversion`;

/** The kind of a custom resource stands in its body: there is no type that has it. */
export function checkCustomKind(expected: GroupVersionKind, { kind, apiVersion, metadata }: KubeObject): void {
  if (!kind) throw badRequest("Object 'Kind' is missing in 'unstructured object has no kind'");
  if (!apiVersion) throw badRequest("Object 'apiVersion' is missing in 'unstructured object has no version'");
  if (apiVersion !== apiVersionOf(expected)) throw otherVersion(apiVersionOf(parseApiVersion(apiVersion)), expected);
  if (kind === expected.kind) return;
  const error = invalidField(FieldPath.of('kind'), kind, `must be ${expected.kind}`);
  throw invalid({ group: expected.group, kind }, metadata?.name ?? '', [error]);
}

function reportStrict(
  expected: Expected,
  object: KubeObject,
  errors: readonly string[],
  options: Omit<BodyOptions, 'converter' | 'mediaTypes'>,
): void {
  if (errors.length === 0) return;
  if (options.fieldValidation === 'Warn') {
    for (const text of errors.flatMap(eachWarning)) options.warn(text);
    return;
  }
  const kind = object.kind || expected.kind.kind;
  const apiVersion = object.apiVersion || apiVersionOf(expected.kind);
  throw undecodable({
    expected,
    kind,
    apiVersion,
    why: `strict decoding error: ${errors.join(', ')}`,
    body: Buffer.alloc(0),
  });
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

interface UndecodableBody {
  readonly expected: Expected;
  readonly kind?: string | undefined;
  readonly apiVersion?: string | undefined;
  readonly why: string;
  readonly body: Buffer;
}

function undecodable({ expected, kind, apiVersion, why, body }: UndecodableBody): StatusError {
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
