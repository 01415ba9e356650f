// One evaluation: its variables, the slots of loops' variables, and what it has cost so far.
import { CelError, CelList, CelMap } from '../value.js';
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

export const COST_EXCEEDED = new CelError('operation cancelled: actual cost limit exceeded', 'cost-limit');
const INTERRUPTED = new CelError('operation interrupted', 'interrupted');
/** How many steps pass between questions whether to go on: the clock is read for each. */
const STEPS_BETWEEN_CHECKS = 100;
/** So many characters of an argument count as a step. */
const CHARACTERS_PER_STEP = 512;

/** Counts work that may be slower than its cost; throws when the evaluation is interrupted. */
export interface Pace {
  /** Called before a function whose run may be slower than its cost. */
  begin(argument: Value): void;
  /** Called once per round of a loop, which is short. */
  round(): void;
  /** Called between parts of a millisecond or so each. */
  check(): void;
}

export class Frame implements Pace {
  cost = 0;
  private steps = 0;
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

  round(): void {
    this.spend(1);
  }

  begin(argument: Value): void {
    if (typeof argument === 'string') this.spend(1 + Math.floor(argument.length / CHARACTERS_PER_STEP));
    // How much there is in it is not known.
    else if (argument instanceof CelList || argument instanceof CelMap) this.spend(STEPS_BETWEEN_CHECKS);
    else this.spend(1);
  }

  check(): void {
    this.spend(STEPS_BETWEEN_CHECKS);
  }

  private spend(steps: number): void {
    if (this.interrupted === undefined) return;
    this.steps += steps;
    if (this.steps < STEPS_BETWEEN_CHECKS) return;
    this.steps = 0;
    if (this.interrupted()) throw new Cancelled(INTERRUPTED);
  }
}
