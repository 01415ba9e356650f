// Tells on every flow schema whether the priority level it names is there, as soon as either comes, changes or goes.
import { prefixed } from '../../lib/telemetry/prefixed.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { goQuote } from '../../lib/go/quote.js';
import type { Clock } from '../../lib/async/clock.js';
import { WorkQueue } from '../../lib/async/work-queue.js';
import { type GroupResource, StatusError } from '../../machinery/status.js';
import { timestamp } from '../../registry/registry.js';
import type { FlowSchema, FlowSchemaCondition } from '../../schema/generated/flowcontrol.v1.js';
import { type Informer, startInformer } from '../../storage/informer.js';
import type { ResourceStore } from '../../storage/store.js';
import type { ServerClient } from '../../registry/server-client.js';
import { FLOW_CONTROL_GROUP } from './default-configuration.js';

export interface MarkDanglingOptions {
  readonly client: Pick<ServerClient, 'apply'>;
  /** The stores of flow schemas and of priority levels. */
  readonly schemas: ResourceStore;
  readonly levels: ResourceStore;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

const MANAGER = 'api-priority-and-fairness-config-consumer-v1';
const SCHEMAS: GroupResource = { group: FLOW_CONTROL_GROUP, resource: 'flowschemas' };
const CONCURRENCY = 4;

/** Resolves once the schemas and levels that were there are known; marks until `signal` aborts. */
export async function markDanglingFlowSchemas(options: MarkDanglingOptions): Promise<void> {
  const { client, clock, signal, log } = options;
  const queue = new WorkQueue({
    name: 'flow schemas',
    work: async (name) => {
      await mark(name);
      return 'done';
    },
    concurrency: CONCURRENCY,
    clock,
    signal,
    log,
  });
  let synced = false;
  // Before all levels are known, one that is not may still be there.
  const look = (name: string): void => {
    if (synced) queue.add(name);
  };
  const lookAtThoseOf = (level: string): void => {
    if (!synced) return;
    for (const [name, stored] of schemas.objects) {
      if ((stored.object() as FlowSchema).spec.priorityLevelConfiguration.name === level) look(name);
    }
  };
  const levels = startInformer({
    store: options.levels,
    signal,
    log: prefixed(log, 'priority levels'),
    onUpsert: ({ key }, before) => {
      if (before === undefined) lookAtThoseOf(key);
    },
    onDelete: ({ key }) => lookAtThoseOf(key),
  });
  const schemas: Informer = startInformer({
    store: options.schemas,
    signal,
    log: prefixed(log, 'flow schemas'),
    onUpsert: ({ key }) => look(key),
    onDelete: () => undefined,
  });
  await Promise.all([levels.synced, schemas.synced]);
  synced = true;
  for (const name of schemas.objects.keys()) look(name);

  async function mark(name: string): Promise<void> {
    const schema = schemas.objects.get(name)?.object() as FlowSchema | undefined;
    if (schema === undefined) return;
    const condition = danglingCondition(schema, levels.objects.has(schema.spec.priorityLevelConfiguration.name));
    if (isMarked(schema, condition)) return;
    const { apiVersion, kind, metadata } = schema;
    const configuration = {
      ...(apiVersion !== undefined && { apiVersion }),
      ...(kind !== undefined && { kind }),
      metadata: { ...(metadata.name !== undefined && { name: metadata.name }) },
      status: { conditions: [{ ...condition, lastTransitionTime: timestamp(new Date(clock.now())) }] },
    };
    try {
      await client.apply({ resource: SCHEMAS, object: schema, configuration, manager: MANAGER, subresource: 'status' });
    } catch (error) {
      // Gone meanwhile: nothing is left to mark.
      if (!(error instanceof StatusError && error.code === 404)) throw error;
    }
  }
}

type Mark = Omit<FlowSchemaCondition, 'lastTransitionTime'>;

function danglingCondition({ spec }: FlowSchema, found: boolean): Mark {
  const name = goQuote(spec.priorityLevelConfiguration.name);
  const head = `This FlowSchema references the PriorityLevelConfiguration object named ${name}`;
  return {
    type: 'Dangling',
    status: found ? 'False' : 'True',
    reason: found ? 'Found' : 'NotFound',
    message: found ? `${head} and it exists` : `${head} but there is no such object`,
  };
}

function isMarked({ status }: FlowSchema, { type, status: wanted, reason, message }: Mark): boolean {
  const known = status.conditions?.find((condition) => condition.type === type);
  return known?.status === wanted && known?.reason === reason && known?.message === message;
}
