import type { JsonBounds } from '../lib/json/bounds.js';

/** In characters. No request header has a longer token; a TokenReview may. */
export const MAX_TOKEN_LENGTH = 1024 * 1024;
/** Of its first part, which names a key and may bring certificates. */
export const MAX_TOKEN_HEADER_LENGTH = 64 * 1024;

/** Tokens have a few claims, some of which nest; anybody may send others, with as many as a head is long. */
export const CLAIM_BOUNDS: JsonBounds = { depth: 500, members: 10_000 };
