/** Managed fields that cannot be read; the message says what is wrong with them. */
export class ManagedFieldsError extends Error {}
