/** A number written with a fraction or an exponent, with the text it was written in. */
export class FloatLiteral {
  constructor(
    readonly value: number,
    readonly text: string,
  ) {}
}

/** Whether a value of a JSON tree is an object; a FloatLiteral is a number. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof FloatLiteral);
