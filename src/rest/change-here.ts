// The other side of change-aside.ts.
import { bufferOf } from '../lib/buffer-of.js';
import { atOnce } from '../lib/turns.js';
import { carry, storedObject } from '../registry/carried-object.js';
import { refusedBy } from '../registry/refused-aside.js';
import type { KubeObject } from '../machinery/object.js';
import { parseJsonTree } from '../schema/json/decode.js';
import { acceptChanged, acceptNew, expectedOf } from './accept-body.js';
import { type ChangeMade, type ChangeWork } from './change-aside.js';
import { decodeBody } from './decode-body.js';
import { type PatchTree, readPatch, type ReadPatchOptions } from './decode-large.js';
import { type Endpoint, inVersion, toStorage } from './endpoint.js';
import { mediaTypeNamed } from './media-types.js';
import { noteSteps } from './note-write.js';
import { encodingOf, targetOf } from './patch-target.js';
import { type PatchKind, preparePatch } from './patch-kinds.js';
import { scaleHere } from './scale-here.js';
import { type Made, refusedFor, sentOf, type Warn } from './sent-here.js';
import { toldVersions, UntoldConversion } from './versions.js';

export function changeHere(endpoint: Endpoint, work: ChangeWork): ChangeMade {
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  try {
    return { warnings, ...made(endpoint, work, warn) };
  } catch (error) {
    if (error instanceof UntoldConversion) {
      const { key, apiVersion, object } = error;
      return { warnings: [], wants: { key, apiVersion, object: carry(object) } };
    }
    return { warnings, refused: refusedBy(error) };
  }
}

function made(endpoint: Endpoint, work: ChangeWork, warn: Warn): Made {
  const { how, subresource } = work;
  const scale = endpoint.definition.subresources?.[subresource]?.scale;
  if (scale !== undefined) return scaleHere(endpoint, scale, work, warn);
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
  const told: Made = {
    ...sent,
    ...refusedFor(() => accept(endpoint, object, path, warn)),
    ...(uid !== undefined && { uid }),
  };
  if (work.checkOnly || told.refused !== undefined) return told;
  const versions = toldVersions(endpoint, work.conversions);
  const now = new Date(work.nowMs);
  atOnce(noteSteps(endpoint, { live: liveOf(endpoint, work), object, manager, subresource, now, versions }));
  return { ...told, object: carry(toStorage(endpoint, object)) };
}

function patched(endpoint: Endpoint, kind: PatchKind, work: ChangeWork, warn: Warn): Made {
  const { options, manager, subresource } = work;
  const now = new Date(work.nowMs);
  let tree: PatchTree | undefined;
  const patch = preparePatch(kind, (reading) => (tree = readTree(kind, work, reading)), {
    target: targetOf(endpoint, subresource, now, toldVersions(endpoint, work.conversions)),
    options,
    manager,
    subresource,
    now,
    warn,
  });
  if (work.checkOnly) return tree === undefined || encodingOf(kind) === 'json' ? {} : readBefore(tree);
  const object = atOnce(patch.steps(liveOf(endpoint, work)));
  return { object: carry(toStorage(endpoint, object)) };
}

function readTree(kind: PatchKind, { body, read }: ChangeWork, options: ReadPatchOptions): PatchTree {
  if (read === undefined) return readPatch(encodingOf(kind), bufferOf(body), options);
  const { duplicates, strictError } = read;
  return { value: parseJsonTree(body).value, duplicates: [...duplicates], strictError };
}

/** YAML takes long to read: it is done once. */
const readBefore = ({ value, duplicates, strictError }: PatchTree): Made => ({
  tree: carry([value]).slice(1, -1),
  read: { duplicates, strictError },
});

function liveOf(endpoint: Endpoint, { live }: ChangeWork): KubeObject | undefined {
  return live === undefined ? undefined : inVersion(endpoint, storedObject(endpoint.registry.store, live));
}
