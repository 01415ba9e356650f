/**
 * How long the server's own loops let a new or changed object be before they write its status. Who made it often writes it
 * once more at once, with the version that the answer gave: a status that came in between would make that a conflict.
 */
export const SETTLE_MS = 15;
