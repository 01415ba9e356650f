// A write to test plugins with, among the objects of the test.
import { errorText } from '../lib/text/error-text.js';
import type { KubeObject } from '../machinery/object.js';
import { type GroupResource, groupResourceText } from '../machinery/status.js';
import type { UserInfo } from '../machinery/user.js';
import type { Lookup } from '../registry/kind.js';
import type { StoredObject } from '../storage/store.js';
import type { AdmissionAttributes, AdmissionPlugin, Operation } from './plugin.js';
import { Rounds } from './rounds.js';

export interface TestWrite {
  /** `pods` or `ingresses.networking.k8s.io`. */
  readonly resource: string;
  readonly kind?: string;
  readonly operation?: Operation;
  readonly subresource?: string;
  /** Partial objects: what a test is not about is left out. */
  readonly object?: object;
  readonly old?: object;
  readonly name?: string;
  readonly namespace?: string;
  readonly user?: UserInfo;
  readonly dryRun?: boolean;
  /** Feature gates that are off; all others are on. */
  readonly disabled?: readonly string[];
  /** The other objects there are, by resource. */
  readonly world?: Readonly<Record<string, readonly object[]>>;
  readonly operations?: Partial<AdmissionAttributes['operations']>;
}

export interface TestAttributes extends AdmissionAttributes {
  readonly warnings: string[];
  readonly annotations: Record<string, string>;
}

export function testAttributes(write: TestWrite): TestAttributes {
  const [resource = '', ...group] = write.resource.split('.');
  const object = write.object as KubeObject | undefined;
  const old = write.old as KubeObject | undefined;
  const warnings: string[] = [];
  const annotations: Record<string, string> = {};
  const namespace = write.namespace ?? 'ns';
  return {
    operation: write.operation ?? (old === undefined ? 'CREATE' : 'UPDATE'),
    kind: { group: group.join('.'), version: 'v1', kind: write.kind ?? '' },
    resource: { group: group.join('.'), version: 'v1', resource },
    subresource: write.subresource ?? '',
    namespace,
    name: write.name ?? object?.metadata.name ?? old?.metadata.name ?? '',
    ...(object && { object }),
    ...(old && { old }),
    context: {
      user: write.user ?? { name: 'alice', groups: [] },
      namespace,
      now: () => new Date(0),
      features: { enabled: (name) => write.disabled?.includes(name) !== true },
      dryRun: write.dryRun ?? false,
      options: { allowPrivileged: true, eventTtlSeconds: 0 },
      lookup: lookupIn(write.world ?? {}),
      warn: (text) => warnings.push(text),
    },
    operations: (write.operations ?? {}) as AdmissionAttributes['operations'],
    annotate: (key, value) => {
      annotations[key] = value;
    },
    warnings,
    annotations,
  };
}

/** Runs both steps, as the chain would. Answers the message of a refusal. */
export async function refusal(plugin: AdmissionPlugin, attributes: AdmissionAttributes): Promise<string | undefined> {
  try {
    await plugin.admit?.(attributes, new Rounds());
    await plugin.validate?.(attributes, new Rounds());
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

function lookupIn(world: Readonly<Record<string, readonly object[]>>): Lookup {
  const all = (resource: GroupResource): readonly KubeObject[] =>
    (world[groupResourceText(resource)] ?? []) as readonly KubeObject[];
  return {
    get: (resource, _namespace, name) => Promise.resolve(all(resource).find(({ metadata }) => metadata.name === name)),
    list: (resource) =>
      Promise.resolve(
        all(resource).map((object) => ({ object: () => object, labels: object.metadata.labels ?? {} }) as StoredObject),
      ),
  };
}
