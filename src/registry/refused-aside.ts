// A refusal that is decided in another thread.
import { bufferOf } from '../lib/buffer-of.js';
import { StatusError, type StatusDetails } from '../machinery/status.js';
import { metaType } from '../schema/catalogue.js';
import { encodeJson } from '../schema/json/encode.js';

export interface Refused {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  /** Without causes where the whole is printed. */
  readonly details?: StatusDetails | undefined;
  /** The Status as JSON, where it is long. */
  readonly printed?: Uint8Array;
}

const MOST_PLAIN_CAUSES = 100;
const LONGEST_PLAIN_MESSAGE = 64 * 1024;

/** Of what was thrown; anything but a StatusError is thrown on. */
export function refusedBy(error: unknown): Refused {
  if (!(error instanceof StatusError)) throw error;
  const { code, reason, message, details } = error;
  const { causes = [], ...others } = details ?? {};
  if (causes.length <= MOST_PLAIN_CAUSES && message.length <= LONGEST_PLAIN_MESSAGE) {
    return { code, reason, message, details };
  }
  const printed = new TextEncoder().encode(encodeJson(metaType('Status'), error.status));
  return { code, reason, message: message.slice(0, LONGEST_PLAIN_MESSAGE), details: others, printed };
}

export function refusalOf({ code, reason, message, details, printed }: Refused): StatusError {
  const error = new StatusError(code, reason, message, details);
  if (printed !== undefined) error.printed = bufferOf(printed);
  return error;
}
