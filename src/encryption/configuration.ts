// An EncryptionConfiguration as it was read and checked: what to encrypt, and with what.

export interface EncryptionSettings {
  /** `sha256:` of the file's bytes. */
  readonly hash: string;
  readonly entries: readonly EncryptionEntry[];
}

export interface EncryptionEntry {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` or `*.*`. */
  readonly resources: readonly string[];
  /** The first one writes. */
  readonly providers: readonly ProviderSettings[];
}

export type ProviderSettings =
  | { readonly kind: 'identity' }
  | { readonly kind: 'aesgcm' | 'aescbc' | 'secretbox'; readonly keys: readonly KeySettings[] }
  | KmsSettings;

export interface KeySettings {
  readonly name: string;
  readonly secret: Buffer;
}

export interface KmsSettings {
  readonly kind: 'kms';
  readonly version: 'v1' | 'v2';
  readonly name: string;
  /** The path of its socket; one that begins with @ is no file. */
  readonly socket: string;
  readonly timeoutMs: number;
  /** KMS v1 only. */
  readonly cacheSize: number;
}
