// The calls of the KMS v1 protocol. Its version is checked before anything else, once.
import { asBytes, asText, ProtoWriter } from '../../lib/protobuf/wire.js';
import { errorText } from '../../lib/text/error-text.js';
import { EncryptionError } from '../encryption-error.js';
import type { KmsPluginClient } from './kms-plugin-client.js';

export interface KmsPluginV1 {
  encrypt(plain: Buffer): Promise<Buffer>;
  decrypt(cipher: Buffer): Promise<Buffer>;
}

const METHOD = '/v1beta1.KeyManagementService/';
const VERSION = 'v1beta1';

export function kmsPluginV1(client: KmsPluginClient): KmsPluginV1 {
  let checked: Promise<void> | undefined;
  const checkVersion = async (): Promise<void> => {
    let version = '';
    try {
      await client.call(`${METHOD}Version`, new ProtoWriter().bytes(1, VERSION).finish(), (field, value) => {
        if (field === 1) version = asText(value);
      });
    } catch (error) {
      throw new EncryptionError(`failed get version from remote KMS provider: ${errorText(error)}`, 'unknown-non-grpc');
    }
    if (version !== VERSION) {
      throw new Error(`KMS provider api version ${version} is not supported, only ${VERSION} is supported now`);
    }
  };
  const call = async (method: string, bytes: Buffer): Promise<Buffer> => {
    checked ??= checkVersion();
    try {
      await checked;
    } catch (error) {
      checked = undefined;
      throw error;
    }
    const request = new ProtoWriter().bytes(1, VERSION).bytes(2, bytes).finish();
    let answer: Buffer = Buffer.alloc(0);
    await client.call(`${METHOD}${method}`, request, (field, value) => {
      if (field === 1) answer = asBytes(value);
    });
    return answer;
  };
  return { encrypt: (plain) => call('Encrypt', plain), decrypt: (cipher) => call('Decrypt', cipher) };
}
