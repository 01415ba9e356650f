// What the audit log reads of an object that a client sent.

export interface SentObject {
  readonly kind?: string;
  readonly metadata?: SentMetadata;
}

export interface SentMetadata {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly managedFields?: unknown;
}
