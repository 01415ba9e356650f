// The calls of the KMS v2 protocol.
import { asBytes, asText, ProtoWriter } from '../../lib/protobuf/wire.js';
import { readAnnotation, SEED, type WrappedKey, writeAnnotations } from './encrypted-object.js';
import type { KmsPluginClient } from './kms-plugin-client.js';

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
const NOTHING = Buffer.alloc(0);

export function kmsPluginV2(client: KmsPluginClient): KmsPluginV2 {
  return {
    async status() {
      const text: Record<number, string> = {};
      await client.call(`${METHOD}Status`, NOTHING, (field, value) => (text[field] = asText(value)));
      return { version: text[1] ?? '', healthz: text[2] ?? '', keyId: text[3] ?? '' };
    },
    async encrypt(uid, seed) {
      const request = new ProtoWriter().bytes(1, seed).bytes(2, uid).finish();
      let source: Buffer = NOTHING;
      let keyId = '';
      const annotations = new Map<string, Buffer>();
      await client.call(`${METHOD}Encrypt`, request, (field, value) => {
        if (field === 1) source = asBytes(value);
        else if (field === 2) keyId = asText(value);
        else if (field === 3) readAnnotation(asBytes(value), annotations);
      });
      return { source, keyId, annotations, sourceType: SEED };
    },
    async decrypt(uid, { source, keyId, annotations }) {
      const request = new ProtoWriter().bytes(1, source).bytes(2, uid).bytes(3, keyId);
      writeAnnotations(request, 4, annotations);
      let plain: Buffer = NOTHING;
      await client.call(`${METHOD}Decrypt`, request.finish(), (field, value) => {
        if (field === 1) plain = asBytes(value);
      });
      return plain;
    },
  };
}
