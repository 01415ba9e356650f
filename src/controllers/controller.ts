// What every controller receives from the server, and what it returns.
import type { Logger } from '../lib/telemetry/log.js';
import type { Clock } from '../lib/async/clock.js';
import type { GroupVersionKind, KubeObject } from '../machinery/object.js';
import { type GroupResource, StatusError } from '../machinery/status.js';
import type { LifeContext } from '../registry/kind.js';
import type { ResourceRegistry } from '../registry/registry.js';
import type { ServerClient } from '../registry/server-client.js';

export interface ControllerParts {
  readonly client: ServerClient;
  /** Resources that are served now; custom ones come and go. */
  readonly registries: () => readonly ResourceRegistry[];
  readonly registryOf: (resource: GroupResource) => ResourceRegistry | undefined;
  /** The resource that serves a kind in a version. */
  readonly resourceOf: (kind: GroupVersionKind) => string | undefined;
  /** The server's own part in the life of objects. */
  readonly context: () => LifeContext;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Resolves once the controller knows the state that was there; it works on until the signal aborts. */
export type StartController = (parts: ControllerParts) => Promise<void>;

/** The manager kube-apiserver's controllers write as. */
export const CONTROLLER_MANAGER = 'kube-controller-manager';

export const NAMESPACES: GroupResource = { group: '', resource: 'namespaces' };
export const NODES: GroupResource = { group: '', resource: 'nodes' };

export interface SameObjectUpdate {
  readonly resource: GroupResource;
  readonly object: Readonly<KubeObject>;
  readonly change: (object: KubeObject) => KubeObject;
  readonly subresource?: string | undefined;
  /** As whose the changed fields are noted; the controller manager's where nobody is named. */
  readonly manager?: string | undefined;
}

/** Changes the object if it is still the same one; one that is gone needs no change any more. */
export async function updateSame(
  client: ServerClient,
  { resource, object, change, subresource = '', manager = CONTROLLER_MANAGER }: SameObjectUpdate,
): Promise<void> {
  const onlySame = (current: KubeObject): KubeObject => {
    if (current.metadata.uid !== object.metadata.uid) throw new OtherObjectError();
    return change(current);
  };
  try {
    await client.update({ resource, object, change: onlySame, manager, subresource });
  } catch (error) {
    if (!(error instanceof OtherObjectError) && !isStatus(error, 404)) throw error;
  }
}

export const isStatus = (error: unknown, code: number): boolean => error instanceof StatusError && error.code === code;

/** Many at a time, so that the store can write them together; not all, so that the event loop stays free. */
export async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += BATCH) await Promise.all(items.slice(at, at + BATCH).map(work));
}

const BATCH = 32;

class OtherObjectError extends Error {}

/** The registry of a resource every server has. */
export function registryOf(parts: Pick<ControllerParts, 'registryOf'>, resource: GroupResource): ResourceRegistry {
  const registry = parts.registryOf(resource);
  if (registry === undefined) throw new Error(`the server has no ${resource.resource}`);
  return registry;
}
