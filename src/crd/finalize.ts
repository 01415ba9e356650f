// The end of a CRD: its objects go first, then it.
import { errorText } from '../lib/text/error-text.js';
import { setTimeout as delay } from 'node:timers/promises';
import { pause } from '../lib/async/pause.js';
import { CLEANUP_FINALIZER } from '../apis/apiextensions/definition.js';
import { deleteCollection } from '../registry/delete-collection.js';
import type { LifeContext } from '../registry/kind.js';
import type { ResourceRegistry } from '../registry/registry.js';
import { deepCopy } from '../schema/deep-copy.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import type { Condition } from './accept-names.js';
import type { DefinitionWriter } from './definition-writer.js';

/** Objects with finalizers of their own are waited for this long before the CRD says so. */
const WAIT_MS = 60_000;
const POLL_MS = 250;
/** So long at least a CRD shows that its objects are being deleted. */
const BEGIN_MS = 15;

export interface FinalizeOptions {
  readonly writer: DefinitionWriter;
  readonly context: () => LifeContext;
  readonly signal: AbortSignal;
  /** The CRD's objects; undefined when it was never served, `built-in` when they are another kind's. */
  readonly objects: ResourceRegistry | 'built-in' | undefined;
}

export const needsFinalizing = ({ metadata }: Readonly<CustomResourceDefinition>): boolean =>
  metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(CLEANUP_FINALIZER);

/** Deletes all objects of a deleted CRD, then the CRD. Throws when objects remain: the caller tries again. */
export async function finalizeDefinition(name: string, options: FinalizeOptions): Promise<void> {
  const { writer } = options;
  const begun = await writer.update(name, (crd, set) => {
    if (!needsFinalizing(crd)) return false;
    set(terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'));
    return true;
  });
  if (begun === undefined || !needsFinalizing(begun)) return;
  await pause(BEGIN_MS, options.signal);
  const end = await deleteObjects(options);
  await writer.update(name, (crd, set) => {
    set(end);
    if (end.status === 'True') return true;
    const { metadata } = crd;
    const rest = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    if (rest.length > 0) metadata.finalizers = rest;
    else delete metadata.finalizers;
    return true;
  });
  if (end.status === 'True') throw new Error(end.message);
}

async function deleteObjects(options: FinalizeOptions): Promise<Condition> {
  const { objects } = options;
  if (objects === undefined) return terminating('False', 'NeverEstablished', 'resource was never established');
  if (objects !== 'built-in') return deleteInstances(objects, options);
  const why = 'instances overlap with built-in resources in storage';
  return terminating('False', 'OverlappingBuiltInResource', why);
}

async function deleteInstances(
  registry: ResourceRegistry,
  { context, signal }: Pick<FinalizeOptions, 'context' | 'signal'>,
): Promise<Condition> {
  const everything = { namespace: '', resourceVersion: '', resourceVersionMatch: '' as const, limit: 0, continue: '' };
  try {
    const request = { options: {}, context: context(), admit: async () => undefined, copy: deepCopy };
    await deleteCollection(registry, everything, request);
  } catch (error) {
    return terminating('True', 'InstanceDeletionFailed', `could not issue all deletes: ${errorText(error)}`);
  }
  try {
    for (const end = Date.now() + WAIT_MS; ; await delay(POLL_MS, undefined, { signal })) {
      const { items } = await registry.store.list({ ...everything, limit: 1 });
      if (items.length === 0) return terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
      if (Date.now() >= end) throw new Error('context deadline exceeded');
    }
  } catch (error) {
    const why = `could not confirm zero CustomResources remaining: ${errorText(error)}`;
    return terminating('True', 'InstanceDeletionCheck', why);
  }
}

const terminating = (status: 'True' | 'False', reason: string, message: string): Condition => ({
  type: 'Terminating',
  status,
  reason,
  message,
});
