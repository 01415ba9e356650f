// The charging of quotas: usage is written before a write is admitted, on condition that nobody else wrote meanwhile.
//
// Writes into one namespace that come while others are charged wait, and are then charged together:
//
//   a → [a] charged alone
//   b, c, d meanwhile → [b c d] charged with one write for each quota
//
// So many creators cost few writes, and two servers on one store only ever race for whole batches. Whoever loses the
// race reads again and checks again, so that what is admitted never exceeds.
import type { KubeObject } from '../../machinery/object.js';
import { conflict, STALE_OBJECT, StatusError } from '../../machinery/status.js';
import { createServerClient, SERVER_MANAGER } from '../../registry/server-client.js';
import type { ResourceQuota } from '../../schema/generated/core.v1.js';
import { loadedAll } from '../../storage/store.js';
import type { AdmissionAttributes } from '../plugin.js';
import { checkRequest } from './check.js';
import type { QuotaEvaluator } from './evaluator.js';
import type { LimitedResource } from './limited.js';

export const RESOURCE_QUOTAS = { group: '', resource: 'resourcequotas' };
/** Races lost in a row before a batch gives up. */
const MAX_TRIES = 10;

interface Charge {
  readonly attributes: AdmissionAttributes;
  readonly evaluator: QuotaEvaluator;
  readonly settle: (refusal?: unknown) => void;
  settled: boolean;
}

export class QuotaLedger {
  private readonly waiting = new Map<string, Charge[]>();

  constructor(private readonly limited: readonly LimitedResource[]) {}

  /** Fulfilled when the write is charged, rejected when it may not be. */
  async charge(attributes: AdmissionAttributes, evaluator: QuotaEvaluator): Promise<void> {
    const { namespace } = attributes;
    await new Promise<void>((resolve, reject) => {
      const charge: Charge = {
        attributes,
        evaluator,
        settled: false,
        settle(refusal) {
          if (charge.settled) return;
          charge.settled = true;
          if (refusal === undefined) resolve();
          else reject(refusal);
        },
      };
      const queue = this.waiting.get(namespace);
      if (queue !== undefined) {
        queue.push(charge);
        return;
      }
      this.waiting.set(namespace, []);
      void this.work(namespace, [charge]);
    });
  }

  /** Goes on while there are charges; the namespace's queue stands as long as somebody works. */
  private async work(namespace: string, first: readonly Charge[]): Promise<void> {
    let batch = first;
    while (batch.length > 0) {
      try {
        await chargeAll(namespace, batch, this.limited);
      } catch (error) {
        for (const charge of batch) charge.settle(error);
      }
      batch = this.waiting.get(namespace) ?? [];
      if (batch.length > 0) this.waiting.set(namespace, []);
    }
    this.waiting.delete(namespace);
  }
}

async function chargeAll(
  namespace: string,
  batch: readonly Charge[],
  limited: readonly LimitedResource[],
): Promise<void> {
  /** The quotas still to be charged; undefined before the first try, which charges all. */
  let remaining: ReadonlySet<string> | undefined;
  let lost: unknown;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const open = batch.filter(({ settled }) => !settled);
    const [first] = open;
    if (first === undefined) return;
    // Who was not quick enough begins with what others have written.
    const quotas = await readQuotas(namespace, first.attributes, tries > 0);
    const wanted = quotas.filter(({ metadata }) => remaining?.has(metadata.name ?? '') ?? true);
    const failed = new Set<string>();
    for (const quota of chargeTogether(wanted, open, tries === 0 ? limited : [])) {
      try {
        await writeUsage(quota, first.attributes);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        failed.add(quota.metadata.name ?? '');
        lost = error;
      }
    }
    if (failed.size === 0) {
      for (const charge of open) charge.settle();
      return;
    }
    remaining = failed;
  }
  for (const charge of batch) charge.settle(lost);
}

async function readQuotas(
  namespace: string,
  { context }: AdmissionAttributes,
  newest: boolean,
): Promise<readonly ResourceQuota[]> {
  return (await loadedAll(await context.lookup.list(RESOURCE_QUOTAS, namespace, newest))) as ResourceQuota[];
}

/** Checks one after the other, each against what those before it use. Answers the quotas to write. */
function chargeTogether(
  quotas: readonly ResourceQuota[],
  charges: readonly Charge[],
  limited: readonly LimitedResource[],
): readonly ResourceQuota[] {
  const changed = new Map<string, ResourceQuota>();
  let current = quotas;
  for (const charge of charges) {
    try {
      const usages = checkRequest(current, charge.attributes, charge.evaluator, limited);
      if (charge.attributes.context.dryRun) {
        charge.settle();
        continue;
      }
      for (const { quota, used } of usages) {
        changed.set(quota.metadata.name ?? '', { ...quota, status: { ...quota.status, used } });
      }
      current = quotas.map((quota) => changed.get(quota.metadata.name ?? '') ?? quota);
    } catch (refusal) {
      charge.settle(refusal);
    }
  }
  return [...changed.values()];
}

/** Fails with a conflict when the quota is not the one the usage was computed from. */
async function writeUsage(quota: ResourceQuota, { operations, context }: AdmissionAttributes): Promise<void> {
  const own = { ...context, dryRun: false, warn: () => undefined };
  // What is counted is the server's word, whoever's request it counts.
  const client = createServerClient({ operations, lookup: context.lookup, context: () => own });
  const { metadata, status } = quota;
  const change = (current: KubeObject): KubeObject => {
    if (current.metadata.resourceVersion !== metadata.resourceVersion) {
      throw conflict(RESOURCE_QUOTAS, metadata.name ?? '', STALE_OBJECT);
    }
    return { ...current, status: { ...(current as ResourceQuota).status, used: status.used ?? {} } } as KubeObject;
  };
  await client.update({
    resource: RESOURCE_QUOTAS,
    object: quota,
    change,
    manager: SERVER_MANAGER,
    subresource: 'status',
  });
}
