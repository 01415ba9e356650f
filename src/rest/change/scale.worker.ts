// The other side of scale-on-worker.ts.
import { bufferOf } from '../../lib/values/buffer-of.js';
import { runSync } from '../../lib/scheduling/yield.js';
import { encodeForTransfer, storedObject } from '../../registry/transferred-object.js';
import type { ScaleAccess } from '../../registry/kind.js';
import type { ChangeWork } from './change-on-worker.js';
import { decodeBody } from '../body/decode-body.js';
import { type PatchTree, readPatch, type ReadPatchOptions } from '../body/decode-large.js';
import type { Endpoint } from '../contract/endpoint.js';
import { mediaTypeNamed } from '../wire/media-types.js';
import { encodingOf } from './patch-target.js';
import {
  acceptScale,
  expectedScale,
  patchedScale,
  type ScaleChange,
  scaledSteps,
  updatedScale,
} from './scale-change.js';
import { type Made, refusedFor, sentOf, type Warn } from './sent.worker.js';
import { scaleType } from '../answer/scale-answer.js';

export function runScale(endpoint: Endpoint, access: ScaleAccess, work: ChangeWork, warn: Warn): Made {
  const { how, body, options, manager, subresource, path } = work;
  const now = new Date(work.nowMs);
  if (how !== 'create' && how !== 'update') {
    const read = (reading: ReadPatchOptions): PatchTree => readPatch(encodingOf(how), bufferOf(body), reading);
    const context = { options, manager, subresource, now, warn };
    return scaled(endpoint, access, work, patchedScale(endpoint, how, read, context));
  }
  const { fieldValidation } = options;
  const media = mediaTypeNamed(work.mediaType);
  const sent = decodeBody(media, bufferOf(body), expectedScale(endpoint), { fieldValidation, warn });
  const { uid } = sent.metadata;
  const result: Made = {
    ...(work.wantsSent !== undefined && sentOf(scaleType(), sent, work.wantsSent)),
    ...refusedFor(() => acceptScale(sent, path)),
    ...(uid !== undefined && { uid }),
  };
  if (work.checkOnly || result.refused !== undefined) return result;
  return scaled(endpoint, access, work, updatedScale(sent, manager, now));
}

function scaled(endpoint: Endpoint, access: ScaleAccess, { live, path }: ChangeWork, change: ScaleChange): Made {
  if (live === undefined) throw new Error('a scale is never created');
  const current = storedObject(endpoint.registry.store, live);
  const made = runSync(scaledSteps({ endpoint, access, path, current, change }));
  return {
    object: encodeForTransfer(made.object),
    scales: { live: encodeForTransfer(made.live), sent: encodeForTransfer(made.scale) },
  };
}
