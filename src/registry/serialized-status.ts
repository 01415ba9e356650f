// A refusal that is decided on a worker thread.
import { bufferOf } from '../lib/values/buffer-of.js';
import { StatusError, type StatusDetails } from '../machinery/status.js';
import { metaType } from '../schema/catalogue.js';
import { encodeJson } from '../schema/json/encode.js';

export interface SerializedStatus {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  /** Without causes where the whole status is encoded. */
  readonly details?: StatusDetails | undefined;
  /** The Status as JSON, where it is long. */
  readonly encoded?: Uint8Array;
}

const MAX_PLAIN_CAUSES = 100;
const MAX_PLAIN_MESSAGE_LENGTH = 64 * 1024;

/** Of what was thrown; anything but a StatusError is thrown on. */
export function serializeStatus(error: unknown): SerializedStatus {
  if (!(error instanceof StatusError)) throw error;
  const { code, reason, message, details } = error;
  const { causes = [], ...others } = details ?? {};
  if (causes.length <= MAX_PLAIN_CAUSES && message.length <= MAX_PLAIN_MESSAGE_LENGTH) {
    return { code, reason, message, details };
  }
  const encoded = new TextEncoder().encode(encodeJson(metaType('Status'), error.status));
  return { code, reason, message: message.slice(0, MAX_PLAIN_MESSAGE_LENGTH), details: others, encoded };
}

export function deserializeStatus({ code, reason, message, details, encoded }: SerializedStatus): StatusError {
  const error = new StatusError(code, reason, message, details);
  if (encoded !== undefined) error.encoded = bufferOf(encoded);
  return error;
}
