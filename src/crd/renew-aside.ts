// How a large stored custom resource reads today, found out in another thread.
import { type Aside, asideOr, type Knowledge, task } from '../lib/aside.js';
import { bufferOf } from '../lib/buffer-of.js';
import type { KindRef } from '../registry/prepare-aside.js';
import { DecodeError } from '../schema/json/decode.js';
import type { ObjectCodec } from '../storage/store.js';

interface RenewWork {
  readonly kind: KindRef;
  readonly json: Uint8Array;
}

/** Nothing where it is as it was. */
interface Renewed {
  readonly json?: Uint8Array;
  readonly failed?: string;
}

export const RENEW = task<RenewWork, Renewed>('renew');

/** The codec, with what is large renewed there. */
export function renewingAside(codec: ObjectCodec, aside: Aside, needs: Knowledge, kind: KindRef): ObjectCodec {
  const there = async (json: Buffer): Promise<Buffer> => {
    const renewed = await aside.do(RENEW, { kind, json }, { needs });
    if (renewed.failed !== undefined) throw new DecodeError(renewed.failed);
    return renewed.json === undefined ? json : bufferOf(renewed.json);
  };
  const here = (json: Buffer): Buffer => codec.renew?.(json) ?? json;
  return {
    ...codec,
    renewLarge: (json) => (json.length < aside.fromBytes ? undefined : asideOr(there(json), () => here(json))),
  };
}

/** The other side. */
export function renewHere(codec: ObjectCodec, { json: sent }: RenewWork): Renewed {
  const json = bufferOf(sent);
  try {
    const renewed = codec.renew?.(json) ?? json;
    return renewed.equals(json) ? {} : { json: new Uint8Array(renewed) };
  } catch (error) {
    if (error instanceof DecodeError) return { failed: error.message };
    throw error;
  }
}
