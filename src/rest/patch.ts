import type { HttpRequest, HttpResponse } from '../lib/http.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { atOnce, inTurns, LARGE_BYTES, nextTurn } from '../lib/turns.js';
import type { KubeObject } from '../machinery/object.js';
import { notFound, unsupportedMediaType, wrongMediaType } from '../machinery/status.js';
import { matchNamespace } from '../registry/system-fields.js';
import type { Converter } from './convert-bytes.js';
import { type PatchTree, readLargePatch, readPatch } from './decode-large.js';
import { type Endpoint, inVersion, toStorage } from './endpoint.js';
import { CBOR_TYPE, type MediaType } from './media-types.js';
import { negotiate } from './negotiate.js';
import { managerName } from './field-manager.js';
import { noteSteps, resetFieldsOf } from './note-write.js';
import { isApply, type PatchKind, type PatchTarget, preparePatch } from './patch-kinds.js';
import { patchOptions } from './query-options.js';
import type { RestRequest } from './request.js';
import { respondObject } from './respond.js';
import type { Versions } from '../schema/apply/versions.js';
import type { RestServices } from './services.js';
import { conversionsOf } from './versions.js';
import { checkName, writeObject } from './write-object.js';

const PATCH_TYPES: Readonly<Record<string, PatchKind>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
  'application/apply-patch+cbor': 'apply-cbor',
};

/** PATCH of an object or of a subresource that has the object's own form. */
export async function patchObject(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
): Promise<HttpResponse> {
  const { http, info } = request;
  const kind = patchKind(http, endpoint, services.mediaTypes);
  const negotiated = negotiate(http, services.mediaTypes);
  const span = request.trace?.span;
  const body = await http.body(services.maxBodyBytes);
  span?.event('limitedReadBody succeeded', { len: body.length });
  request.trail?.requestPatch(body);
  span?.event('Recorded the audit event');
  const applies = isApply(kind);
  const options = patchOptions(http.query, applies);
  const { versions, settle } = conversionsOf(endpoint);
  const large = body.length > LARGE_BYTES;
  const reading = patchReader(services.converter, kind, body);
  const patch = preparePatch(kind, reading instanceof Promise ? await reading : reading, {
    target: targetOf(endpoint, info.subresource, services.clock(), versions),
    options,
    manager: managerName(options.fieldManager, http),
    subresource: info.subresource,
    now: services.clock(),
    warn: (text) => request.warn(text),
  });
  if (large) await nextTurn();
  const { stored, created } = await writeObject(services, endpoint, {
    request,
    subresource: info.subresource,
    dryRun: options.dryRun,
    options,
    createMissing: applies && info.subresource === '',
    bytes: body.length,
    async change(current, { bytes }) {
      // A kind whose PUT may create asks for the change of what is missing, too.
      if (current === undefined && !applies) throw notFound(endpoint.resource, info.name);
      span?.event('About to apply patch');
      const live = current === undefined ? undefined : inVersion(endpoint, current);
      const object: KubeObject = await settle(() => (bytes > LARGE_BYTES ? inTurns(patch(live)) : atOnce(patch(live))));
      matchNamespace(object, endpoint.definition.namespaced, info.namespace);
      checkName(object, info.name);
      span?.event('About to check admission control');
      return toStorage(endpoint, object);
    },
  });
  span?.event('Object stored in database');
  span?.event('About to write a response');
  return respondObject(
    { endpoint, request: http, negotiated, clock: services.clock, converter: services.converter },
    created ? 201 : 200,
    stored,
  );
}

/** Reads a patch: a large one now, in turns with others. What is wrong with it is told when it is asked for. */
export function patchReader(converter: Converter, kind: PatchKind, body: Buffer): MaybePromise<() => PatchTree> {
  const encoding = kind === 'apply' ? 'yaml' : kind === 'apply-cbor' ? 'cbor' : 'json';
  if (body.length <= LARGE_BYTES) return () => readPatch(encoding, body);
  return readLargePatch(converter, encoding, body).then(
    (tree) => () => tree,
    (error: unknown) => () => {
      throw error;
    },
  );
}

function targetOf(endpoint: Endpoint, subresource: string, now: Date, versions: Versions): PatchTarget {
  return {
    type: endpoint.type,
    kind: endpoint.kind,
    defaults: (object) => endpoint.version.defaults?.(object),
    note: (live, object, manager, reset) =>
      noteSteps(endpoint, { live, object, manager, subresource, now, reset, versions }),
    resetFields: resetFieldsOf(endpoint, subresource),
    versions,
  };
}

/**
 * Custom resources have no merge keys: they take no strategic merge patches. Applies come in CBOR where objects do.
 */
export function patchKind(
  http: HttpRequest,
  { definition }: Pick<Endpoint, 'definition'>,
  mediaTypes: readonly MediaType[],
): PatchKind {
  const sent = (http.headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  const withCbor = mediaTypes.includes(CBOR_TYPE);
  const allowed = Object.keys(PATCH_TYPES).filter((type) => {
    const kind = PATCH_TYPES[type];
    return (kind !== 'strategic' || !definition.custom) && (kind !== 'apply-cbor' || withCbor);
  });
  const kind = allowed.includes(sent) ? PATCH_TYPES[sent] : undefined;
  // Of a built-in kind the route already refuses it, in fewer words.
  if (kind === undefined) throw definition.custom ? unsupportedMediaType(allowed) : wrongMediaType();
  return kind;
}
