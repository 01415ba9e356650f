// etcd's errors, by their codes and texts (rpctypes): clients tell them apart by both.
import { TransactionRefused } from '../kv/embedded/commits.js';
import { KvError } from '../kv/kv.js';
import { GrpcFault, STATUS } from './grpc/fault.js';

const FAULTS = {
  emptyKey: [STATUS.invalidArgument, 'etcdserver: key is not provided'],
  keyNotFound: [STATUS.invalidArgument, 'etcdserver: key not found'],
  valueProvided: [STATUS.invalidArgument, 'etcdserver: value is provided'],
  leaseProvided: [STATUS.invalidArgument, 'etcdserver: lease is provided'],
  tooManyOps: [STATUS.invalidArgument, 'etcdserver: too many operations in txn request'],
  duplicateKey: [STATUS.invalidArgument, 'etcdserver: duplicate key given in txn request'],
  invalidSortOption: [STATUS.invalidArgument, 'etcdserver: invalid sort option'],
  compacted: [STATUS.outOfRange, 'etcdserver: mvcc: required revision has been compacted'],
  futureRevision: [STATUS.outOfRange, 'etcdserver: mvcc: required revision is a future revision'],
  noSpace: [STATUS.resourceExhausted, 'etcdserver: mvcc: database space exceeded'],
  leaseNotFound: [STATUS.notFound, 'etcdserver: requested lease not found'],
  leaseExists: [STATUS.failedPrecondition, 'etcdserver: lease already exists'],
  leaseTtlTooLarge: [STATUS.outOfRange, 'etcdserver: too large lease TTL'],
  requestTooLarge: [STATUS.invalidArgument, 'etcdserver: request is too large'],
  badLeaderTransferee: [STATUS.failedPrecondition, 'etcdserver: bad leader transferee'],
  notCapable: [STATUS.failedPrecondition, 'etcdserver: not capable'],
  authNotEnabled: [STATUS.failedPrecondition, 'etcdserver: authentication is not enabled'],
  permissionDenied: [STATUS.permissionDenied, 'etcdserver: permission denied'],
  stopped: [STATUS.unavailable, 'etcdserver: server stopped'],
  corrupt: [STATUS.dataLoss, 'etcdserver: corrupt cluster'],
} as const;
type FaultName = keyof typeof FAULTS;

export function etcdFault(name: FaultName): GrpcFault {
  const [status, message] = FAULTS[name];
  return new GrpcFault(status, message);
}

/** Inside a transaction: nothing of it happens. */
export const refusal = (name: FaultName): TransactionRefused => new TransactionRefused(name);

export const refusedBy = (cause: unknown): TransactionRefused => new TransactionRefused('', { cause });

/** What a failure of the store is to a client; what is none stays what it is. */
export function faultOfStore(error: unknown): unknown {
  if (error instanceof TransactionRefused) {
    if (error.cause !== undefined) return faultOfStore(error.cause);
    return Object.hasOwn(FAULTS, error.message) ? etcdFault(error.message as FaultName) : error;
  }
  if (!(error instanceof KvError)) return error;
  switch (error.code) {
    case 'compacted':
      return etcdFault('compacted');
    case 'future-revision':
      return etcdFault('futureRevision');
    case 'disk-full':
      return etcdFault('noSpace');
    case 'too-large':
      return etcdFault('requestTooLarge');
    case 'closed':
      return etcdFault('stopped');
    case 'damaged':
      return new GrpcFault(STATUS.dataLoss, `${FAULTS.corrupt[1]}: ${error.message}`);
    default:
      return new GrpcFault(STATUS.unavailable, error.message);
  }
}

/** Runs a call of the store; its failures become etcd's. */
export async function storeCall<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw faultOfStore(error);
  }
}
