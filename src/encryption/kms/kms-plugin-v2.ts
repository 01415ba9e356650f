// The calls of the KMS v2 protocol.
import { annotationList, annotationsIn, SEED, type WrappedKey } from './encrypted-object.js';
import type { KmsPluginClient } from './kms-plugin-client.js';
import {
  DECRYPT_REQUEST,
  DECRYPT_RESPONSE,
  ENCRYPT_REQUEST,
  ENCRYPT_RESPONSE,
  STATUS_REQUEST,
  STATUS_RESPONSE,
} from './messages.js';

export interface ServiceStatus {
  readonly version: string;
  /** `ok`, or what is wrong. */
  readonly healthz: string;
  readonly keyId: string;
}

export interface KmsPluginV2 {
  status(): Promise<ServiceStatus>;
  /** Wraps a seed. `uid` names the call in both sides' logs. */
  encrypt(uid: string, seed: Buffer): Promise<WrappedKey>;
  decrypt(uid: string, key: WrappedKey): Promise<Buffer>;
}

const METHOD = '/v2.KeyManagementService/';

export function kmsPluginV2(client: KmsPluginClient): KmsPluginV2 {
  return {
    status: () => client.call(`${METHOD}Status`, STATUS_REQUEST.encode({}), STATUS_RESPONSE),
    async encrypt(uid, seed) {
      const request = ENCRYPT_REQUEST.encode({ plaintext: seed, uid });
      const answer = await client.call(`${METHOD}Encrypt`, request, ENCRYPT_RESPONSE);
      const annotations = annotationsIn(answer);
      return { source: answer.ciphertext, keyId: answer.keyId, annotations, sourceType: SEED };
    },
    async decrypt(uid, { source, keyId, annotations }) {
      const wrapped = { ciphertext: source, keyId, annotations: annotationList(annotations) };
      const request = DECRYPT_REQUEST.encode({ uid, ...wrapped });
      return (await client.call(`${METHOD}Decrypt`, request, DECRYPT_RESPONSE)).plaintext;
    },
  };
}
