// The other side of change-on-worker.ts.
import { bufferOf } from '../../lib/values/buffer-of.js';
import { runSync } from '../../lib/scheduling/yield.js';
import { encodeForTransfer, storedObject } from '../../registry/transferred-object.js';
import { serializeStatus } from '../../registry/serialized-status.js';
import type { KubeObject } from '../../machinery/object.js';
import { parseJsonTree } from '../../schema/json/decode.js';
import { acceptChanged, acceptNew, expectedOf } from '../body/accept-body.js';
import { type ChangeMade, type ChangeWork } from './change-on-worker.js';
import { decodeBody } from '../body/decode-body.js';
import { type PatchTree, readPatch, type ReadPatchOptions } from '../body/decode-large.js';
import { type Endpoint, inVersion, toStorage } from '../contract/endpoint.js';
import { mediaTypeNamed } from '../wire/media-types.js';
import { trackManagers } from './track-managers.js';
import { encodingOf, targetOf } from './patch-target.js';
import { type PatchKind, preparePatch } from '../patch/patch-kinds.js';
import { runScale } from './scale.worker.js';
import { type Made, refusedFor, sentOf, type Warn } from './sent.worker.js';
import { resolvedVersions, ConversionRequired } from './versions.js';

export function runChange(endpoint: Endpoint, work: ChangeWork): ChangeMade {
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  try {
    return { warnings, ...made(endpoint, work, warn) };
  } catch (error) {
    if (error instanceof ConversionRequired) {
      const { key, apiVersion, object } = error;
      return { warnings: [], wants: { key, apiVersion, object: encodeForTransfer(object) } };
    }
    return { warnings, refused: serializeStatus(error) };
  }
}

function made(endpoint: Endpoint, work: ChangeWork, warn: Warn): Made {
  const { how, subresource } = work;
  const scale = endpoint.definition.subresources?.[subresource]?.scale;
  if (scale !== undefined) return runScale(endpoint, scale, work, warn);
  return how === 'create' || how === 'update' ? written(endpoint, work, warn) : patched(endpoint, how, work, warn);
}

function written(endpoint: Endpoint, work: ChangeWork, warn: Warn): Made {
  const { how, path, options, mediaType, manager, subresource } = work;
  const { fieldValidation } = options;
  const object = decodeBody(mediaTypeNamed(mediaType), bufferOf(work.body), expectedOf(endpoint, subresource), {
    fieldValidation,
    warn,
  });
  const sent = work.wantsSent === undefined ? {} : sentOf(endpoint.type, object, work.wantsSent);
  const accept = how === 'create' ? acceptNew : acceptChanged;
  const { uid } = object.metadata;
  const result: Made = {
    ...sent,
    ...refusedFor(() => accept(endpoint, object, path, warn)),
    ...(uid !== undefined && { uid }),
  };
  if (work.checkOnly || result.refused !== undefined) return result;
  const versions = resolvedVersions(endpoint, work.conversions);
  const now = new Date(work.nowMs);
  runSync(trackManagers(endpoint, { live: liveOf(endpoint, work), object, manager, subresource, now, versions }));
  return { ...result, object: encodeForTransfer(toStorage(endpoint, object)) };
}

function patched(endpoint: Endpoint, kind: PatchKind, work: ChangeWork, warn: Warn): Made {
  const { options, manager, subresource } = work;
  const now = new Date(work.nowMs);
  let tree: PatchTree | undefined;
  const patch = preparePatch(kind, (reading) => (tree = readTree(kind, work, reading)), {
    target: targetOf(endpoint, subresource, now, resolvedVersions(endpoint, work.conversions)),
    options,
    manager,
    subresource,
    now,
    warn,
  });
  if (work.checkOnly) return tree === undefined || encodingOf(kind) === 'json' ? {} : readBefore(tree);
  const object = runSync(patch.steps(liveOf(endpoint, work)));
  return { object: encodeForTransfer(toStorage(endpoint, object)) };
}

function readTree(kind: PatchKind, { body, read }: ChangeWork, options: ReadPatchOptions): PatchTree {
  if (read === undefined) return readPatch(encodingOf(kind), bufferOf(body), options);
  const { duplicates, strictError } = read;
  return { value: parseJsonTree(body).value, duplicates: [...duplicates], strictError };
}

/** YAML is slow to parse: it is parsed once. */
const readBefore = ({ value, duplicates, strictError }: PatchTree): Made => ({
  tree: encodeForTransfer([value]).slice(1, -1),
  read: { duplicates, strictError },
});

function liveOf(endpoint: Endpoint, { live }: ChangeWork): KubeObject | undefined {
  return live === undefined ? undefined : inVersion(endpoint, storedObject(endpoint.registry.store, live));
}
