// Keeps the default flow-control objects: mandatory ones as they are written here, suggested ones until people change
// them, and none that an older version suggested and this one does not.
import { deepEqual } from '../../lib/values/deep-equal.js';
import type { KubeObject } from '../../machinery/object.js';
import type { GroupResource } from '../../machinery/status.js';
import type { ServerClient } from '../../registry/server-client.js';
import {
  AUTO_UPDATE_SPEC,
  type DefaultObject,
  FLOW_CONTROL_GROUP,
  FLOW_SCHEMAS,
  PRIORITY_LEVELS,
} from './default-configuration.js';

type Configured = KubeObject & { spec: unknown };

const MANAGER = 'api-priority-and-fairness-config-producer-v1';
const SCHEMAS: GroupResource = { group: FLOW_CONTROL_GROUP, resource: 'flowschemas' };
const LEVELS: GroupResource = { group: FLOW_CONTROL_GROUP, resource: 'prioritylevelconfigurations' };

export async function ensureFlowControl(client: ServerClient): Promise<void> {
  await Promise.all([
    ...PRIORITY_LEVELS.map((level) => ensure(client, LEVELS, level)),
    ...FLOW_SCHEMAS.map((schema) => ensure(client, SCHEMAS, schema)),
  ]);
  await Promise.all([removeForgotten(client, LEVELS, PRIORITY_LEVELS), removeForgotten(client, SCHEMAS, FLOW_SCHEMAS)]);
}

/** The object as it shall be, or undefined when it is right already. */
function revised(current: Readonly<Configured>, wanted: DefaultObject<Configured>): Configured | undefined {
  const stated = autoUpdateOf(current);
  // Without a word on it, an object nobody has changed since it was made is ours to update.
  const ours = wanted.mandatory || (stated ?? current.metadata.generation === 1);
  const annotate = stated !== ours;
  const respecify = ours && wanted.allowed?.(current.spec) !== true && !deepEqual(current.spec, wanted.object.spec);
  if (!annotate && !respecify) return undefined;
  const annotations = { ...current.metadata.annotations, [AUTO_UPDATE_SPEC]: String(ours) };
  return {
    ...structuredClone(current),
    metadata: { ...structuredClone(current.metadata), ...(annotate ? { annotations } : {}) },
    ...(respecify ? { spec: structuredClone(wanted.object.spec) } : {}),
  };
}

async function ensure(client: ServerClient, resource: GroupResource, wanted: DefaultObject<Configured>): Promise<void> {
  const name = wanted.object.metadata.name ?? '';
  const current = (await client.get(resource, '', name)) as Configured | undefined;
  if (current === undefined) {
    await client.create(resource, structuredClone(wanted.object), MANAGER);
    return;
  }
  if (revised(current, wanted) === undefined) return;
  await client.update({
    resource,
    object: current,
    change: (object) => revised(object as Configured, wanted) ?? object,
    manager: MANAGER,
  });
}

async function removeForgotten(
  client: ServerClient,
  resource: GroupResource,
  wanted: readonly DefaultObject<KubeObject>[],
): Promise<void> {
  const names = new Set(wanted.map(({ object }) => object.metadata.name));
  for (const object of await client.list(resource)) {
    if (!names.has(object.metadata.name) && autoUpdateOf(object) === true) await client.delete(resource, object);
  }
}

const WORDS: Readonly<Record<string, boolean | undefined>> = {
  '1': true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  '0': false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
};

const autoUpdateOf = (object: Readonly<KubeObject>): boolean | undefined =>
  WORDS[object.metadata.annotations?.[AUTO_UPDATE_SPEC] ?? ''];
