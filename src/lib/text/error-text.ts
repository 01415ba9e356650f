/** What to say of something that was caught, which need not be an Error. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
