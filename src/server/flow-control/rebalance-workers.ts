// The seats of priority levels follow what requests of all worker processes want. The supervisor collects it; the oldest worker,
// which has seen most, computes; all apply.
import type { Balance, FlowControl } from '../../flowcontrol/flow-control.js';
import { type SeenDemand, sumOfDemand } from '../../flowcontrol/seats.js';
import type { Channel } from '../../workers/channel.js';
import type { Supervisor } from '../../workers/supervisor.js';

export const REBALANCE_MS = 10_000;

type SeenByLevel = ReadonlyMap<string, SeenDemand>;

const TOPICS = { demand: 'flow-demand', rebalance: 'flow-rebalance', balance: 'flow-balance' } as const;

/** In a worker. */
export function rebalanceWithOthers(flowControl: FlowControl, channel: Channel): void {
  channel.handle(TOPICS.demand, () => flowControl.takeDemand());
  channel.handle(TOPICS.rebalance, (seen) => flowControl.rebalance(seen as SeenByLevel));
  channel.handle(TOPICS.balance, (balance) => flowControl.apply(balance as Balance));
}

/** In the supervisor. */
export async function rebalanceWorkers(supervisor: Pick<Supervisor, 'askAll' | 'serving'>): Promise<void> {
  const answers = await supervisor.askAll(TOPICS.demand);
  const [oldest, ...others] = supervisor.serving;
  if (oldest === undefined) return;
  try {
    const balance = await oldest.ask(
      TOPICS.rebalance,
      sumByLevel(answers.map(({ content }) => content as SeenByLevel)),
    );
    for (const channel of others) channel.notify(TOPICS.balance, balance);
  } catch {
    // It has ended; the next round is another's.
  }
}

function sumByLevel(seen: readonly SeenByLevel[]): SeenByLevel {
  const names = new Set(seen.flatMap((levels) => [...levels.keys()]));
  return new Map([...names].map((name) => [name, sumOfDemand(seen.flatMap((levels) => levels.get(name) ?? []))]));
}
