// The packets of the konnectivity protocol, which carry one connection over a gRPC stream.
import { big, bytes, int, message, one, text } from '../lib/protobuf/message.js';

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

const DIAL_REQUEST = message({ protocol: text(1), address: text(2), random: big(3) });
const DIAL_RESPONSE = message({ error: text(1), connectId: big(2), random: big(3) });
const DATA = message({ connectId: big(1), error: text(2), data: bytes(3) });
const CLOSE_REQUEST = message({ connectId: big(1) });
const CLOSE_RESPONSE = message({ error: text(1), connectId: big(2) });
const DIAL_CLOSE = message({ random: big(1) });

const PACKET = message({
  type: int(1),
  dialRequest: one(2, DIAL_REQUEST),
  dialResponse: one(3, DIAL_RESPONSE),
  data: one(4, DATA),
  closeRequest: one(5, CLOSE_REQUEST),
  closeResponse: one(6, CLOSE_RESPONSE),
  dialClose: one(7, DIAL_CLOSE),
});

const packetType = (type: PacketType): number => TYPES.indexOf(type);

export const dialRequest = (address: string, random: bigint): Buffer =>
  PACKET.encode({ type: packetType('DIAL_REQ'), dialRequest: { protocol: 'tcp', address, random } });

export const dialClose = (random: bigint): Buffer =>
  PACKET.encode({ type: packetType('DIAL_CLS'), dialClose: { random } });

export const closeRequest = (connectId: bigint): Buffer =>
  PACKET.encode({ type: packetType('CLOSE_REQ'), closeRequest: { connectId } });

export const data = (connectId: bigint, content: Buffer): Buffer =>
  PACKET.encode({ type: packetType('DATA'), data: { connectId, data: content } });

export function readPacket(encoded: Buffer): ReceivedPacket {
  const packet = PACKET.decode(encoded);
  const { dialResponse, closeRequest: closing, closeResponse, dialClose: closed } = packet;
  return {
    type: TYPES[packet.type],
    connectId: (dialResponse ?? packet.data ?? closing ?? closeResponse)?.connectId ?? 0n,
    random: (dialResponse ?? closed)?.random ?? 0n,
    error: (dialResponse ?? packet.data ?? closeResponse)?.error ?? '',
    data: packet.data?.data ?? NO_BYTES,
  };
}

const NO_BYTES = Buffer.alloc(0);
