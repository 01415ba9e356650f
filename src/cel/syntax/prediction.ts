// Which way to go at a choice, by looking ahead as far as necessary, and which tokens a state can begin with.
import type { Network, RuleName, State } from './grammar.js';
import type { TokenType } from './lexer.js';

/** States to return to, innermost first; undefined where nobody knows who called. */
export interface Stack {
  readonly state: State;
  readonly outer: Stack | undefined;
}

export type Expected = TokenType | 'END';

/** The tokens a state may go on with; END when its rule may end there and the caller is not known. */
export function firstTokens(network: Network, from: State, callers?: Stack): ReadonlySet<Expected> {
  if (callers !== undefined) return findFirstTokens(network, from, callers);
  let known = firstSets.get(from);
  if (known === undefined) {
    known = findFirstTokens(network, from, undefined);
    firstSets.set(from, known);
  }
  return known;
}

const firstSets = new WeakMap<State, ReadonlySet<Expected>>();

function findFirstTokens(network: Network, from: State, callers: Stack | undefined): ReadonlySet<Expected> {
  const tokens = new Set<Expected>();
  /** Rules that are being gone through; going into them once more adds nothing. */
  const inside = new Set<RuleName>();
  const visit = (state: State, seen: Set<State>, stop: () => void): void => {
    if (seen.has(state)) return;
    seen.add(state);
    if (state.kind === 'stop') return stop();
    for (const move of state.moves) {
      if (move.move === 'token') move.tokens.forEach((t) => tokens.add(t));
      else if (move.move === 'free') visit(move.to, seen, stop);
      else if (!inside.has(move.rule)) {
        inside.add(move.rule);
        let ends = false;
        visit(network.start[move.rule], new Set(), () => (ends = true));
        inside.delete(move.rule);
        if (ends) visit(move.to, seen, stop);
      }
    }
  };
  const reach = (state: State, stack: Stack | undefined): void => {
    let ends = false;
    visit(state, new Set(), () => (ends = true));
    if (ends && stack === undefined) tokens.add('END');
    else if (ends && stack !== undefined) reach(stack.state, stack.outer);
  };
  reach(from, callers);
  return tokens;
}

interface Configuration {
  readonly state: State;
  /** Which way this began with, from 1. */
  readonly way: number;
  readonly stack: Stack | undefined;
  /** It has left the rule the choice is in. */
  readonly left: boolean;
}

export type Prediction =
  /** The predicted alternative, from 1, and how many tokens decided it. */
  | { readonly way: number; readonly tokens: number }
  /** The place of the token at which no way is open. */
  | { readonly stuckAt: number };

/** Most choices are decided by one token, so those answers are memoized. */
export class Predictor {
  private readonly known = new Map<State, Map<string, Prediction>>();

  constructor(private readonly network: Network) {}

  predict(decision: State, precedence: number, lookAhead: (places: number) => TokenType): Prediction {
    const answers = this.known.get(decision) ?? new Map<string, Prediction>();
    this.known.set(decision, answers);
    const key = `${precedence} ${lookAhead(1)}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = predict(this.network, decision, precedence, lookAhead);
    if ('way' in answer && answer.tokens === 1) answers.set(key, answer);
    return answer;
  }
}

function predict(
  network: Network,
  decision: State,
  precedence: number,
  lookAhead: (places: number) => TokenType,
): Prediction {
  let current = new Configurations(network);
  decision.moves.forEach((move, i) => {
    if (move.move === 'free') current.add({ state: move.to, way: i + 1, stack: undefined, left: false }, precedence);
  });
  for (let place = 1; ; place++) {
    const token = lookAhead(place);
    const next = new Configurations(network);
    for (const { state, way, stack, left } of current.all) {
      for (const move of state.moves) {
        if (move.move === 'token' && move.tokens.has(token)) next.add({ state: move.to, way, stack, left });
      }
    }
    if (next.all.length === 0) {
      const finished = current.all.filter((c) => c.left || c.state.kind === 'stop').map((c) => c.way);
      return finished.length === 0
        ? { stuckAt: place }
        : { way: finished.reduce((a, b) => Math.min(a, b)), tokens: place };
    }
    const ways = new Set(next.all.map((c) => c.way));
    if (ways.size === 1 || token === 'EOF' || next.isUndecidable())
      return { way: [...ways].reduce((a, b) => Math.min(a, b)), tokens: place };
    current = next;
  }
}

class Configurations {
  readonly all: Configuration[] = [];
  private readonly seen = new Map<State, Configuration[]>();

  constructor(private readonly network: Network) {}

  /** Adds a configuration and all that it reaches without a token. Levels count only in the rule that decides. */
  add(start: Configuration, precedence?: number): void {
    const known = this.seen.get(start.state) ?? [];
    if (known.some((c) => c.way === start.way && sameStack(c.stack, start.stack) && c.left === start.left)) return;
    this.seen.set(start.state, [...known, start]);
    const { state, way, stack, left } = start;
    if (state.kind === 'stop') {
      if (stack !== undefined) return this.add({ state: stack.state, way, stack: stack.outer, left });
      const follows = this.network.follows.get(state.rule) ?? [];
      if (follows.length === 0) this.all.push(start);
      for (const follow of follows) this.add({ state: follow, way, stack: undefined, left: true });
      return;
    }
    let stays = false;
    for (const move of state.moves) {
      if (move.move === 'token') stays = true;
      else if (move.move === 'rule') {
        this.add({ state: this.network.start[move.rule], way, stack: { state: move.to, outer: stack }, left });
      } else if (move.level === undefined || precedence === undefined || move.level >= precedence) {
        this.add({ state: move.to, way, stack, left }, precedence);
      }
    }
    if (stays) this.all.push(start);
  }

  /** Whether every configuration is reached by more than one way, so that looking further decides nothing. */
  isUndecidable(): boolean {
    return this.all.every((c) =>
      this.all.some((other) => other.way !== c.way && other.state === c.state && sameStack(other.stack, c.stack)),
    );
  }
}

function sameStack(a: Stack | undefined, b: Stack | undefined): boolean {
  if (a === b) return true;
  return a !== undefined && b !== undefined && a.state === b.state && sameStack(a.outer, b.outer);
}
