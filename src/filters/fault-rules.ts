// Which requests are hit by which faults: rules in the order that they are tried, and chance that can be repeated.
import { groupResourceText } from '../machinery/status.js';
import type { Exchange } from './exchange.js';

/** What a real server answers when it, its store or its network is not well. */
export const FAULT_CODES = [409, 410, 429, 500, 503, 504] as const;
export type FaultCode = (typeof FAULT_CODES)[number];

export type Fault =
  /** Answers so. `after`: the request is done first, and only its answer is lost. */
  | { readonly kind: 'error'; readonly code: FaultCode; readonly retryAfterSeconds: number; readonly after: boolean }
  /** The request waits before anything is done. */
  | { readonly kind: 'slow'; readonly delayMs: number }
  /** A list that any version satisfies is answered as so many changes ago, as by a cache that lags behind. */
  | { readonly kind: 'stale-list'; readonly behind: number }
  /** A watch ends after so long, without a word. */
  | { readonly kind: 'drop-watch'; readonly afterMs: number }
  /** Events of a watch come so much later, in their order. */
  | { readonly kind: 'delay-watch'; readonly delayMs: number };

export interface FaultRule {
  readonly fault: Fault;
  /** Empty for any. */
  readonly verbs: readonly string[];
  /** As `pods`, `deployments.apps` or `pods/status`; empty for any. */
  readonly resources: readonly string[];
  readonly namespaces: readonly string[];
  /** Of the requests that it is about, from 0 to 1. */
  readonly share: number;
  /** It hits at most so often. */
  readonly times: number;
}

export interface Hit {
  readonly fault: Fault;
  /** The place of its rule. */
  readonly rule: number;
}

/** The verbs that a fault can happen to, whatever its rule says. */
const POSSIBLE: Readonly<Record<Fault['kind'], (verb: string) => boolean>> = {
  error: () => true,
  slow: (verb) => verb !== 'watch',
  'stale-list': (verb) => verb === 'list',
  'drop-watch': (verb) => verb === 'watch',
  'delay-watch': (verb) => verb === 'watch',
};

/** The rules in force, with the chance that decides. The same requests in the same order are hit by the same faults. */
export class FaultRules {
  /** How often each has hit. */
  readonly hits: number[];
  readonly #random: () => number;

  constructor(
    readonly rules: readonly FaultRule[],
    seed: number,
  ) {
    this.hits = rules.map(() => 0);
    this.#random = seededRandom(seed);
  }

  /** All that hit, in the order of their rules. */
  draw(exchange: Exchange): readonly Hit[] {
    return this.rules.flatMap((rule, place) => {
      const hits = this.hits[place] ?? 0;
      if (hits >= rule.times || !isAbout(rule, exchange) || this.#random() >= rule.share) return [];
      this.hits[place] = hits + 1;
      return [{ fault: rule.fault, rule: place }];
    });
  }
}

function isAbout({ fault, verbs, resources, namespaces }: FaultRule, { info }: Exchange): boolean {
  const { verb, apiGroup: group, resource, subresource, namespace } = info;
  const name = `${groupResourceText({ group, resource })}${subresource === '' ? '' : `/${subresource}`}`;
  return (
    POSSIBLE[fault.kind](verb) &&
    (verbs.length === 0 || verbs.includes(verb)) &&
    (resources.length === 0 || resources.includes(name)) &&
    (namespaces.length === 0 || namespaces.includes(namespace))
  );
}

/** Mulberry32: small, and good enough to choose among requests. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
