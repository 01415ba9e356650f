// The calls that change nothing, for clients that may only look. A transaction may still be one that only reads.
import { TXN_REQUEST, type TxnRequest } from '../kv/etcd/messages/kv.js';
import { etcdFault } from './faults.js';
import type { GrpcService, StreamMethod, UnaryMethod } from './grpc/server.js';

const READS: Readonly<Record<string, readonly string[]>> = {
  'etcdserverpb.KV': ['Range', 'Txn'],
  'etcdserverpb.Watch': ['Watch'],
  'etcdserverpb.Lease': ['LeaseTimeToLive', 'LeaseLeases'],
  'etcdserverpb.Maintenance': ['Status', 'Hash', 'HashKV', 'Snapshot'],
  'etcdserverpb.Cluster': ['MemberList'],
  'etcdserverpb.Auth': ['AuthStatus'],
  'grpc.health.v1.Health': ['Check', 'Watch'],
};

type Services = Readonly<Record<string, GrpcService>>;

export const readOnly = (services: Services): Services =>
  Object.fromEntries(
    Object.entries(services).map(([name, { unary, streams = {} }]) => {
      const reads = READS[name] ?? [];
      const isRead = (method: string): boolean => reads.includes(method);
      return [
        name,
        {
          unary: mapped(unary, (method, call) => (isRead(method) ? checked(method, call) : refuse)),
          streams: mapped(streams, (method, call): StreamMethod => (isRead(method) ? call : async () => refuse())),
        },
      ];
    }),
  );

const refuse = (): never => {
  throw etcdFault('permissionDenied');
};

const mapped = <T>(methods: Readonly<Record<string, T>>, map: (name: string, method: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, map(name, method)]));

const checked = (method: string, call: UnaryMethod): UnaryMethod =>
  method !== 'Txn' ? call : (message) => (writes(TXN_REQUEST.decode(message)) ? refuse() : call(message));

const writes = ({ success, failure }: TxnRequest): boolean =>
  [...success, ...failure].some(
    ({ requestPut, requestDeleteRange, requestTxn }) =>
      requestPut !== undefined || requestDeleteRange !== undefined || (requestTxn !== undefined && writes(requestTxn)),
  );
