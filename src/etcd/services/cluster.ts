// etcd's Cluster service, of a cluster of one member that stays so.
import type { Mvcc } from '../../kv/embedded/mvcc.js';
import { MEMBER_LIST_RESPONSE } from '../../kv/etcd/messages/maintenance.js';
import { GrpcFault, STATUS } from '../grpc/fault.js';
import type { GrpcService } from '../grpc/server.js';
import type { HeaderOf, Identity } from '../header.js';

export interface Member {
  readonly name: string;
  readonly clientUrls: readonly string[];
  readonly peerUrls: readonly string[];
}

const refuse = (): never => {
  throw new GrpcFault(
    STATUS.unimplemented,
    'etcdserver: this is an embedded store with one member: there is no Raft, and no others can join',
  );
};

export const clusterService = (mvcc: Mvcc, header: HeaderOf, identity: Identity, member: Member): GrpcService => ({
  unary: {
    MemberList: () =>
      MEMBER_LIST_RESPONSE.encode({ header: header(mvcc.revision), members: [{ id: identity.memberId, ...member }] }),
    MemberAdd: refuse,
    MemberRemove: refuse,
    MemberUpdate: refuse,
    MemberPromote: refuse,
  },
});
