// etcd's Auth service: there are no users. Who may connect is decided by certificates and by the permissions of a socket.
import type { Mvcc } from '../../kv/embedded/mvcc.js';
import { AUTH_STATUS_RESPONSE } from '../../kv/etcd/messages/maintenance.js';
import { etcdFault } from '../faults.js';
import { GrpcFault, STATUS } from '../grpc/fault.js';
import type { GrpcService, UnaryMethod } from '../grpc/server.js';
import type { HeaderOf } from '../header.js';

const refuse = (): never => {
  throw new GrpcFault(STATUS.unimplemented, 'etcdserver: this is an embedded store: it has no users and no roles');
};

const REFUSED = [
  'AuthEnable',
  'AuthDisable',
  'UserAdd',
  'UserGet',
  'UserList',
  'UserDelete',
  'UserChangePassword',
  'UserGrantRole',
  'UserRevokeRole',
  'RoleAdd',
  'RoleGet',
  'RoleList',
  'RoleDelete',
  'RoleGrantPermission',
  'RoleRevokePermission',
];

export const authService = (mvcc: Mvcc, header: HeaderOf): GrpcService => ({
  unary: {
    ...Object.fromEntries(REFUSED.map((method): [string, UnaryMethod] => [method, refuse])),
    AuthStatus: () => AUTH_STATUS_RESPONSE.encode({ header: header(mvcc.revision), authRevision: 1 }),
    Authenticate() {
      throw etcdFault('authNotEnabled');
    },
  },
});
