// Where the time of one request goes, under the names that audit annotations have for it.

export type LatencyLayer =
  | 'apf-queue-wait'
  | 'etcd'
  | 'mutating-webhook'
  | 'response-write'
  | 'serialize-response-object'
  | 'transform-response-object'
  | 'validating-webhook';

/** Of these the longest counts: they run beside each other, or once. The times of all others add up. */
const LONGEST: ReadonlySet<LatencyLayer> = new Set(['apf-queue-wait', 'validating-webhook']);

/** What others have to answer for. */
const OF_OTHERS = ['apf-queue-wait', 'mutating-webhook', 'validating-webhook'] as const;

export class RequestLatency {
  readonly #spentMs: Partial<Record<LatencyLayer, number>> = {};

  add(layer: LatencyLayer, ms: number): void {
    const before = this.#spentMs[layer] ?? 0;
    this.#spentMs[layer] = LONGEST.has(layer) ? Math.max(before, ms) : before + ms;
  }

  /** Spent in webhooks and queues. */
  get ofOthersMs(): number {
    let ms = 0;
    for (const layer of OF_OTHERS) ms += this.#spentMs[layer] ?? 0;
    return ms;
  }

  entries(): readonly [layer: string, ms: number][] {
    return Object.entries(this.#spentMs).filter(([, ms]) => ms > 0);
  }
}
