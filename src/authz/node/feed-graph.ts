// Keeps the graph as the stores are.
import type { Logger } from '../../lib/telemetry/log.js';
import type { KubeObject } from '../../machinery/object.js';
import type { PodCertificateRequest } from '../../schema/generated/certificates.v1alpha1.js';
import type { PersistentVolume, Pod } from '../../schema/generated/core.v1.js';
import type { ResourceSlice } from '../../schema/generated/resource.v1.js';
import type { VolumeAttachment } from '../../schema/generated/storage.v1.js';
import { startInformer } from '../../storage/informer.js';
import type { ResourceStore } from '../../storage/store.js';
import type { AttachedKind, NodeGraph } from './graph.js';
import { referencesOf } from './pod-references.js';
import { volumeReferencesOf } from './volume-references.js';

/** What is followed, by kind. Some kinds are not served everywhere. */
export type GraphKinds = 'Pod' | 'PersistentVolume' | 'VolumeAttachment' | 'ResourceSlice' | 'PodCertificateRequest';
export type GraphStores = Readonly<Partial<Record<GraphKinds, ResourceStore>>>;

export interface FeedOptions {
  readonly graph: NodeGraph;
  readonly stores: GraphStores;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** How long a change took to reach the graph. */
  readonly observe: (operation: string, seconds: number) => void;
  readonly nowMs: () => number;
}

/** For each kind that is followed, a promise that what was there at the start is known. */
export function feedGraph(options: FeedOptions): Map<GraphKinds, Promise<void>> {
  const { graph, stores, signal, log, observe, nowMs } = options;
  const synced = new Map<GraphKinds, Promise<void>>();
  follow<Pod>(
    'Pod',
    (pod) => {
      const { namespace = '', name = '' } = pod.metadata;
      const node = pod.spec.nodeName ?? '';
      if (node === '') graph.removePod(namespace, name);
      else graph.setPod(namespace, name, node, referencesOf(pod));
    },
    ({ namespace = '', name = '' }) => graph.removePod(namespace, name),
    ['AddPod', 'DeletePod'],
  );
  follow<PersistentVolume>(
    'PersistentVolume',
    (volume) => {
      const { name = '' } = volume.metadata;
      const references = volumeReferencesOf(volume);
      if (references === undefined) graph.removeVolume(name);
      else graph.setVolume(name, references.claim, references.secrets);
    },
    ({ name = '' }) => graph.removeVolume(name),
    ['AddPV', 'DeletePV'],
  );
  attached<VolumeAttachment>('VolumeAttachment', 'volumeattachment', ({ spec }) => spec.nodeName);
  attached<ResourceSlice>('ResourceSlice', 'resourceslice', ({ spec }) => spec.nodeName ?? '');
  attached<PodCertificateRequest>('PodCertificateRequest', 'podcertificaterequest', ({ spec }) => spec.nodeName);
  return synced;

  function attached<T extends KubeObject>(kind: GraphKinds, as: AttachedKind, nodeOf: (object: T) => string): void {
    follow<T>(
      kind,
      (object) => {
        const { namespace = '', name = '' } = object.metadata;
        graph.attach(as, namespace, name, nodeOf(object));
      },
      ({ namespace = '', name = '' }) => graph.detach(as, namespace, name),
      [`Add${kind}`, `Delete${kind}`],
    );
  }

  function follow<T extends KubeObject>(
    kind: GraphKinds,
    put: (object: T) => void,
    gone: (metadata: KubeObject['metadata']) => void,
    [added, deleted]: readonly [added: string, deleted: string],
  ): void {
    const store = stores[kind];
    if (store === undefined) return;
    const timed = (operation: string, act: () => void): void => {
      const startMs = nowMs();
      act();
      observe(operation, (nowMs() - startMs) / 1000);
    };
    const informer = startInformer({
      store,
      signal,
      log,
      onUpsert: (stored) => {
        const object = stored.object() as T;
        timed(added, () => put(object));
      },
      onDelete: (stored) => timed(deleted, () => gone(stored.object().metadata)),
    });
    synced.set(kind, informer.synced);
  }
}
