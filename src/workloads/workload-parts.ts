// What the stand-ins share: how they write, the resources they know, and what they have in common with each other.
import type { ControllerParts } from '../controllers/controller.js';
import type { GroupResource } from '../machinery/status.js';
import { type UserInfo } from '../machinery/user.js';
import type { ObjectOperations } from '../registry/kind.js';
import type { ServerClient } from '../registry/server-client.js';

export interface WorkloadParts extends Omit<ControllerParts, 'client'> {
  /** Writes as this user, past every admission plugin: what controllers and kubelets are to kube-apiserver. */
  readonly clientAs: (user: UserInfo) => ServerClient;
  /** Writes that nobody reviews: a binding, whose review is that of another object. */
  readonly operations: ObjectOperations;
  /** Random characters that make a generated name unique. */
  readonly nameSuffix: () => string;
}

const core = (resource: string): GroupResource => ({ group: '', resource });
const apps = (resource: string): GroupResource => ({ group: 'apps', resource });

export const PODS = core('pods');
export const REPLICA_SETS = apps('replicasets');
export const DEPLOYMENTS = apps('deployments');
export const JOBS: GroupResource = { group: 'batch', resource: 'jobs' };
