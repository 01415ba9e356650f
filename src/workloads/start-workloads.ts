// Stand-ins for what a cluster has beside its API server: kubelets, a scheduler, and the controllers of workloads. They
// write what the real ones write, and nothing runs. For tests.
import { NODES } from '../controllers/controller.js';
import { serviceAccountUser } from '../authn/service-account/identity.js';
import { AUTHENTICATED_GROUP, type UserInfo } from '../machinery/user.js';
import type { Deployment, ReplicaSet } from '../schema/generated/apps.v1.js';
import type { Job } from '../schema/generated/batch.v1.js';
import type { Pod } from '../schema/generated/core.v1.js';
import { deploymentReconciler } from './deployment/deployment.js';
import { jobReconciler } from './job/job.js';
import { addKubelet } from './kubelet/kubelet.js';
import { controllerOf, OwnedObjects } from './owned-objects.js';
import { addReconciler } from './reconciler.js';
import { replicaSetReconciler } from './replica-set/replica-set.js';
import { addScheduler } from './scheduler/scheduler.js';
import { ensureNode } from './scheduler/stand-in-node.js';
import { SharedInformer } from './shared-informer.js';
import { DEPLOYMENTS, JOBS, PODS, REPLICA_SETS, type WorkloadParts } from './workload-parts.js';

/** Resolves once they know the state that was there, and the cluster has a node. */
export async function startWorkloads(parts: WorkloadParts): Promise<void> {
  const follow = (resource: typeof PODS): SharedInformer => new SharedInformer(parts, resource);
  const [pods, nodes, replicaSets] = [follow(PODS), follow(NODES), follow(REPLICA_SETS)];
  const [deployments, jobs] = [follow(DEPLOYMENTS), follow(JOBS)];
  // Indexes hear of an object before those who look into them.
  const ownedPods = new OwnedObjects<Pod>();
  const ownedReplicaSets = new OwnedObjects<ReplicaSet>();
  pods.subscribe(ownedPods);
  replicaSets.subscribe(ownedReplicaSets);
  addScheduler(parts, pods, nodes);
  addKubelet(parts, pods);
  const clientOf = (account: string) => parts.clientAs(controllerUser(account));

  const replicaSetClient = clientOf('replicaset-controller');
  addReconciler<ReplicaSet>(parts, {
    kind: 'ReplicaSet',
    client: replicaSetClient,
    objects: replicaSets,
    owned: [pods],
    reconcile: replicaSetReconciler(parts, replicaSetClient, ownedPods),
  });
  const deploymentClient = clientOf('deployment-controller');
  const enqueueDeployment = addReconciler<Deployment>(parts, {
    kind: 'Deployment',
    client: deploymentClient,
    objects: deployments,
    owned: [replicaSets],
    reconcile: deploymentReconciler(parts, deploymentClient, { replicaSets: ownedReplicaSets, pods: ownedPods }),
  });
  // A deployment that recreates its pods waits until the old ones are gone.
  pods.subscribe({
    onUpsert: () => undefined,
    onDelete(pod) {
      const owner = controllerOf(pod);
      const replicaSet = replicaSets.objects.get(`${pod.metadata.namespace}/${owner?.name}`)?.object();
      if (replicaSet !== undefined && replicaSet.metadata.uid === owner?.uid) enqueueDeployment(replicaSet);
    },
  });
  const jobClient = clientOf('job-controller');
  addReconciler<Job>(parts, {
    kind: 'Job',
    client: jobClient,
    objects: jobs,
    owned: [pods],
    reconcile: jobReconciler(parts, jobClient, ownedPods),
  });
  await ensureNode(parts, controllerUser('node-controller'));
  // What is owned is known before its owners are looked at.
  await nodes.start();
  await pods.start();
  await Promise.all([replicaSets.start(), jobs.start()]);
  await deployments.start();
}

/** As kube-controller-manager runs each of its controllers. */
function controllerUser(name: string): UserInfo {
  const user = serviceAccountUser({ namespace: 'kube-system', name, uid: '' });
  return { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] };
}
