// One evaluation: its variables, the slots of loops' variables, and what it has cost so far.
import { CelError } from '../value.js';
import type { Value } from '../value.js';
import type { Variables } from '../environment.js';

/** A planned expression. */
export type Evaluate = (frame: Frame) => Value;

/** Thrown to stop an evaluation from any depth; nothing in an expression absorbs it. */
export class Cancelled extends Error {
  constructor(readonly error: CelError) {
    super(error.message);
  }
}

const COST_EXCEEDED = new CelError('operation cancelled: actual cost limit exceeded', 'cost-limit');
export const INTERRUPTED = new CelError('operation interrupted', 'interrupted');
/** How many rounds of loops pass between questions whether to go on. */
const ROUNDS_BETWEEN_CHECKS = 100;

export class Frame {
  cost = 0;
  private rounds = 0;
  readonly locals: (Value | undefined)[] = [];

  constructor(
    readonly variables: Variables,
    private readonly limit: number,
    private readonly interrupted: (() => boolean) | undefined,
  ) {}

  // hot: every step of an evaluation.
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new Cancelled(COST_EXCEEDED);
  }

  /** Called once per round of a loop. */
  round(): void {
    if (this.interrupted === undefined) return;
    this.rounds++;
    if (this.rounds % ROUNDS_BETWEEN_CHECKS === 0 && this.interrupted()) throw new Cancelled(INTERRUPTED);
  }
}
