// The header of every answer: which cluster and member, and the store's revision.
import { createHash } from 'node:crypto';
import type { ResponseHeader } from '../kv/etcd/messages/kv.js';

/** There is no Raft, and so only one term. */
export const RAFT_TERM = 2;

export interface Identity {
  readonly clusterId: bigint;
  readonly memberId: bigint;
}

/** A name has one identity, at every start. */
export const identityOf = (name: string): Identity => ({
  clusterId: hash(`cluster of ${name}`),
  memberId: hash(`member ${name}`),
});

const hash = (text: string): bigint => createHash('sha256').update(text).digest().readBigUInt64BE(0);

export type HeaderOf = (revision: number) => ResponseHeader;

export const headersFor =
  ({ clusterId, memberId }: Identity): HeaderOf =>
  (revision) => ({ clusterId, memberId, revision, raftTerm: RAFT_TERM });
