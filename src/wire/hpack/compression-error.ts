/** What does not decode. The tables of both ends differ from here on, so the connection cannot go on. */
export class CompressionError extends Error {}
