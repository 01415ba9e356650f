// The events of encryption that metrics count.

export interface TransformationMetrics {
  /** `apiserver_storage_transformation_operations_total` and, where it went well, `…_duration_seconds`. */
  encrypted(resource: string, prefix: string, ms: number): void;
  encryptionFailed(resource: string, prefix: string, status: string): void;
  opened(resource: string, prefix: string, ms: number): void;
  decryptionFailed(resource: string, prefix: string, status: string): void;
}

export type Direction = 'from_storage' | 'to_storage';

export interface KmsPluginMetrics {
  /** A call to a KMS plugin ended (`apiserver_envelope_encryption_kms_operations_latency_seconds`). */
  called(provider: string, method: string, status: string, seconds: number): void;
  /** A key of the service was used (`…_key_id_hash_total`, `…_key_id_hash_last_timestamp_seconds`). */
  keyUsed(direction: Direction, provider: string, keyId: string): void;
  /** The service's status named this key (`…_key_id_hash_status_last_timestamp_seconds`). */
  keySeen(provider: string, keyId: string): void;
  /** `…_invalid_key_id_from_status_total`. */
  invalidKey(provider: string, why: 'empty' | 'too_long'): void;
  /** `…_dek_source_cache_size`. */
  seedsKept(provider: string, count: number): void;
  /** A data key had to be unwrapped by the service (`apiserver_storage_envelope_transformation_cache_misses_total`). */
  unwrapped(): void;
  /** A data key was made (`apiserver_storage_data_key_generation_duration_seconds`). */
  keyMade(seconds: number): void;
  /** KMS v1 only: `…_dek_cache_fill_percent` and `…_dek_cache_inter_arrival_time_seconds`. */
  dataKeysKept(part: number): void;
  arrived(direction: Direction, sinceLastSeconds: number): void;
}

export type EncryptionMetrics = TransformationMetrics & KmsPluginMetrics;
