// A patch as part of an event. The reference loses the event of a patch that is no JSON (an apply in YAML); who leaves
// no trace that way is just whom an audit is for, so here YAML is turned into JSON, and what is neither is kept as text.
import { type Aside, asideOr, task } from '../lib/aside.js';
import { bufferOf } from '../lib/buffer-of.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { inTurns, LARGE_BYTES, type Steps } from '../lib/turns.js';
import { encodeTree } from '../schema/json/encode.js';
import { readPieces } from '../schema/json/decode-pieces.js';
import { Print } from '../schema/json/encode-pieces.js';
import { parseJsonTree } from '../schema/json/decode.js';
import { DecodeError } from '../schema/json/decode.js';
import { quoteJson } from '../schema/json/quote.js';
import { parseYaml } from '../schema/yaml/parse.js';
import type { JsonBytes } from './event.js';

export const RECORD_PATCH = task<{ readonly patch: Uint8Array }, { readonly json: Uint8Array }>('record patch');

/** The other side. */
export const recordPatchHere = (patch: Uint8Array): Uint8Array =>
  new Uint8Array(Buffer.from(patchJson(bufferOf(patch))));

/** In another thread, where there is one for it; else in turns with others where it is large JSON. */
export function recordedPatch(patch: Buffer, aside?: Aside): MaybePromise<JsonBytes> {
  const here = (): MaybePromise<JsonBytes> =>
    patch.length <= LARGE_BYTES ? patchJson(patch) : inTurns(patchSteps(patch));
  if (aside === undefined) return here();
  const there = aside.do(RECORD_PATCH, { patch }).then(({ json }) => bufferOf(json));
  return asideOr<JsonBytes>(there, here);
}

export function* patchSteps(patch: Buffer): Steps<JsonBytes> {
  const read = yield* readPieces(patch, undefined);
  if (read === undefined) return patchJson(patch);
  yield;
  const print = new Print();
  yield* print.tree(read.value, 'asIs');
  return yield* print.bytes();
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
