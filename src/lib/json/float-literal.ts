/** A number written with a fraction or an exponent, with the text it was written in. */
export class FloatLiteral {
  constructor(
    readonly value: number,
    readonly text: string,
  ) {}
}

/** Of a tree of JSON in which numbers may be those. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof FloatLiteral);
