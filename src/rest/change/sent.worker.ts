// What the worker reports of an object that was sent, as it was read.
import { sentJson, type SentWanted } from '../../audit/trail.js';
import type { KubeObject } from '../../machinery/object.js';
import { serializeStatus } from '../../registry/serialized-status.js';
import { encodeJson } from '../../schema/json/encode.js';
import type { StructType } from '../../schema/type.js';
import type { ChangeMade } from './change-on-worker.js';

export type Warn = (text: string) => void;
export type Made = Omit<ChangeMade, 'warnings'>;

export function sentOf(type: StructType, object: KubeObject, wanted: SentWanted): Made {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const json = sentJson(object, wanted, (sent) => encodeJson(type, sent));
  return {
    reference: { name, namespace, uid, resourceVersion },
    ...(json !== undefined && { sent: new Uint8Array(Buffer.from(json)) }),
  };
}

/** Whether what was sent is refused for what it says: it is recorded all the same. */
export function refusedFor(accept: () => void): Pick<Made, 'refused'> {
  try {
    accept();
    return {};
  } catch (error) {
    return { refused: serializeStatus(error) };
  }
}
