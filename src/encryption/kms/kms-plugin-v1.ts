// The calls of the KMS v1 protocol. Its version is checked before anything else, once.
import { errorText } from '../../lib/text/error-text.js';
import { EncryptionError } from '../encryption-error.js';
import type { KmsPluginClient } from './kms-plugin-client.js';
import { V1_REQUEST, V1_RESPONSE, V1_VERSION } from './messages.js';

export interface KmsPluginV1 {
  encrypt(plain: Buffer): Promise<Buffer>;
  decrypt(cipher: Buffer): Promise<Buffer>;
}

const METHOD = '/v1beta1.KeyManagementService/';
const VERSION = 'v1beta1';

export function kmsPluginV1(client: KmsPluginClient): KmsPluginV1 {
  let checked: Promise<void> | undefined;
  const checkVersion = async (): Promise<void> => {
    let version: string;
    try {
      ({ version } = await client.call(`${METHOD}Version`, V1_VERSION.encode({ version: VERSION }), V1_VERSION));
    } catch (error) {
      throw new EncryptionError(`failed get version from remote KMS provider: ${errorText(error)}`, 'unknown-non-grpc');
    }
    if (version !== VERSION) {
      throw new Error(`KMS provider api version ${version} is not supported, only ${VERSION} is supported now`);
    }
  };
  const call = async (method: string, content: Buffer): Promise<Buffer> => {
    checked ??= checkVersion();
    try {
      await checked;
    } catch (error) {
      checked = undefined;
      throw error;
    }
    const request = V1_REQUEST.encode({ version: VERSION, content });
    return (await client.call(`${METHOD}${method}`, request, V1_RESPONSE)).content;
  };
  return { encrypt: (plain) => call('Encrypt', plain), decrypt: (cipher) => call('Decrypt', cipher) };
}
