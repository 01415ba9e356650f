// Which queues a flow may use: a small hand of cards, dealt from the deck of queues by the flow's hash. Two flows rarely
// have all cards in common, so a greedy one leaves others a queue it does not fill.
import { createHash } from 'node:crypto';

/** Hands are cached for this many flows; then the cache is cleared. */
const MAX_CACHED = 10_000;
/** In characters: users and namespaces with longer names are made up. */
const MAX_MEMOIZED_LENGTH = 1024;

export class ShuffleShard {
  readonly #deck: number;
  readonly #hand: number;
  readonly #known = new Map<string, Map<string, readonly number[]>>();
  #cached = 0;

  constructor(deckSize: number, handSize: number) {
    this.#deck = deckSize;
    this.#hand = Math.min(handSize, deckSize);
  }

  /** A flow has one hand, in every server. */
  handOf(schema: string, distinguisher: string): readonly number[] {
    return this.#known.get(schema)?.get(distinguisher) ?? this.#deal(schema, distinguisher);
  }

  #deal(schema: string, distinguisher: string): readonly number[] {
    const hash = createHash('sha256').update(`${schema}\0${distinguisher}`).digest().readBigUInt64LE(0);
    const hand = deal(hash, this.#deck, this.#hand);
    if (distinguisher.length > MAX_MEMOIZED_LENGTH) return hand;
    if (this.#cached++ >= MAX_CACHED) {
      this.#known.clear();
      this.#cached = 1;
    }
    let ofSchema = this.#known.get(schema);
    if (ofSchema === undefined) this.#known.set(schema, (ofSchema = new Map()));
    ofSchema.set(distinguisher, hand);
    return hand;
  }
}

/**
 * `count` different cards of a deck. The hash is a number whose digits have the bases deck, deck − 1, …: each digit
 * counts places among the cards that are still there.
 *
 *     deck 5, digits 3 1 0: card 3; of 0 1 2 4 the one at place 1, card 1; of 0 2 4 the one at place 0, card 0
 */
export function deal(hash: bigint, deck: number, count: number): readonly number[] {
  const hand: number[] = [];
  let rest = hash;
  for (let i = 0; i < count; i++) {
    const base = BigInt(deck - i);
    let card = Number(rest % base);
    rest /= base;
    // Past every card already dealt that stands at or before it.
    for (const dealt of [...hand].sort((a, b) => a - b)) if (card >= dealt) card++;
    hand.push(card);
  }
  return hand;
}
