// A patch as part of an event. kube-apiserver loses the event of a patch that is no JSON (an apply in YAML); who leaves
// no trace that way is just whom an audit is for, so here YAML is turned into JSON, and what is neither is kept as text.
import { offload, task, type WorkerPool } from '../lib/async/worker-pool.js';
import { bufferOf } from '../lib/values/buffer-of.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { workOn } from '../lib/scheduling/sized-work.js';
import type { StepGenerator } from '../lib/scheduling/yield.js';
import { encodeTree } from '../schema/json/encode.js';
import { readPieces } from '../schema/json/decode-pieces.js';
import { JsonPieces } from '../schema/json/encode-pieces.js';
import { parseJsonTree } from '../schema/json/decode.js';
import { DecodeError } from '../schema/json/decode.js';
import { quoteJson } from '../schema/json/quote.js';
import { parseYaml } from '../schema/yaml/parse.js';
import type { JsonBytes } from './event.js';

export const RECORD_PATCH = task<{ readonly patch: Uint8Array }, { readonly json: Uint8Array }>('record patch');

/** The worker's side. */
export const runRecordPatch = (patch: Uint8Array): Uint8Array =>
  new Uint8Array(Buffer.from(patchJson(bufferOf(patch))));

/** On a worker thread, where there is one for it; else cooperatively where it is large JSON. */
export function recordedPatch(patch: Buffer, workers?: WorkerPool): MaybePromise<JsonBytes> {
  const work = workOn(patch.length);
  return offload<JsonBytes>(
    workers,
    async (pool) => bufferOf((await pool.run(RECORD_PATCH, { patch })).json),
    () => (work.isLarge ? work.run(patchSteps(patch)) : patchJson(patch)),
  );
}

export function* patchSteps(patch: Buffer): StepGenerator<JsonBytes> {
  const read = yield* readPieces(patch, undefined);
  if (read === undefined) return patchJson(patch);
  yield;
  const pieces = new JsonPieces();
  yield* pieces.tree(read.value, 'asIs');
  return yield* pieces.bytes();
}

export function patchJson(patch: Buffer): string {
  const tree = treeOf(patch);
  return tree === undefined ? quoteJson(patch.toString('utf8')) : encodeTree(tree.value, 'asIs');
}

function treeOf(patch: Buffer): { readonly value: unknown } | undefined {
  for (const parse of [parseJsonTree, parseYaml]) {
    try {
      return parse(patch);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }
  return undefined;
}
