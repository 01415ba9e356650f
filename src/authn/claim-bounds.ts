import type { JsonBounds } from '../lib/json-bounds.js';

/** Tokens have a few claims, some of which nest; anybody may send others, with as many as a head is long. */
export const CLAIM_BOUNDS: JsonBounds = { depth: 500, members: 10_000 };
