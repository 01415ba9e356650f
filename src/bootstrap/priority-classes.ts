import { errorText } from '../lib/text/error-text.js';
import type { PriorityClass } from '../schema/generated/scheduling.v1.js';
import { type ServerClient, SERVER_MANAGER } from '../registry/server-client.js';

const RESOURCE = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };
/** The highest value of a user's class is 10^9; system classes stand above. */
const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

const CLASSES: readonly (readonly [name: string, value: number, description: string])[] = [
  [
    'system-node-critical',
    SYSTEM_CRITICAL_PRIORITY + 1000,
    'Used for system critical pods that must not be moved from their current node.',
  ],
  [
    'system-cluster-critical',
    SYSTEM_CRITICAL_PRIORITY,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ],
];

export async function ensureSystemPriorityClasses(client: ServerClient): Promise<void> {
  try {
    await ensureAll(client);
  } catch (error) {
    throw new Error(`unable to add default system priority classes: ${errorText(error)}`, { cause: error });
  }
}

async function ensureAll(client: ServerClient): Promise<void> {
  await Promise.all(
    CLASSES.map(async ([name, value, description]) => {
      if ((await client.get(RESOURCE, '', name)) !== undefined) return;
      const priorityClass: PriorityClass = {
        kind: 'PriorityClass',
        apiVersion: 'scheduling.k8s.io/v1',
        metadata: { name },
        value,
        description,
        preemptionPolicy: 'PreemptLowerPriority',
      };
      await client.create(RESOURCE, priorityClass, SERVER_MANAGER);
    }),
  );
}
