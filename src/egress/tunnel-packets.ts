// The packets of the konnectivity protocol, which carry one connection over a gRPC stream.
import { asBytes, asNumber, asText, ProtoWriter, type ProtoValue, readFields } from '../lib/protobuf/wire.js';

export const TUNNEL_METHOD = '/ProxyService/Proxy';

const TYPES = ['DIAL_REQ', 'DIAL_RSP', 'CLOSE_REQ', 'CLOSE_RSP', 'DATA', 'DIAL_CLS', 'DRAIN'] as const;

export type PacketType = (typeof TYPES)[number];

export interface ReceivedPacket {
  /** Undefined: one we do not know. */
  readonly type: PacketType | undefined;
  readonly connectId: bigint;
  /** Of the dial that this answers. */
  readonly random: bigint;
  readonly error: string;
  readonly data: Buffer;
}

export const dialRequest = (address: string, random: bigint): Buffer =>
  packet('DIAL_REQ', 2, new ProtoWriter().bytes(1, 'tcp').bytes(2, address).int(3, random));

export const dialClose = (random: bigint): Buffer => packet('DIAL_CLS', 7, new ProtoWriter().int(1, random));

export const closeRequest = (connectId: bigint): Buffer => packet('CLOSE_REQ', 5, new ProtoWriter().int(1, connectId));

export const data = (connectId: bigint, bytes: Buffer): Buffer =>
  packet('DATA', 4, new ProtoWriter().int(1, connectId).bytes(3, bytes));

const packet = (type: PacketType, field: number, payload: ProtoWriter): Buffer =>
  new ProtoWriter().int(1, TYPES.indexOf(type)).message(field, payload).finish();

/** Where each kind of payload has what. */
const PAYLOADS: Readonly<Record<number, { error?: number; connectId?: number; random?: number; data?: number }>> = {
  3: { error: 1, connectId: 2, random: 3 },
  4: { connectId: 1, error: 2, data: 3 },
  5: { connectId: 1 },
  6: { error: 1, connectId: 2 },
  7: { random: 1 },
};

export function readPacket(bytes: Buffer): ReceivedPacket {
  let type = 0;
  const found = { connectId: 0n, random: 0n, error: '', data: Buffer.alloc(0) as Buffer };
  readFields(bytes, (field, value) => {
    if (field === 1) type = asNumber(value);
    const payload = PAYLOADS[field];
    if (payload === undefined || !Buffer.isBuffer(value)) return;
    readFields(value, (inner, content) => {
      if (inner === payload.error) found.error = asText(content);
      else if (inner === payload.connectId) found.connectId = asBigInt(content);
      else if (inner === payload.random) found.random = asBigInt(content);
      else if (inner === payload.data) found.data = asBytes(content);
    });
  });
  return { type: TYPES[type], ...found };
}

const asBigInt = (value: ProtoValue): bigint => (Buffer.isBuffer(value) ? 0n : BigInt(value));
