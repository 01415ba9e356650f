// Long lists of keys are encoded in pieces, so that no slice of it is long.
import type { EtcdKeyValue } from '../../kv/etcd/messages/kv.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';

/** So many are encoded in a few milliseconds. */
const PIECE_KEYS = 1_000;

export function* piecesSteps(
  kvs: readonly EtcdKeyValue[],
  encode: (part: readonly EtcdKeyValue[]) => Buffer,
): StepGenerator<Buffer[]> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < kvs.length; at += PIECE_KEYS) {
    pieces.push(encode(kvs.slice(at, at + PIECE_KEYS)));
    yield;
  }
  return pieces;
}
