import type { Duplex } from 'node:stream';
import { type ClientTls, handshake } from './client-tls.js';
import { type Dialer, dialUnix } from './dialer.js';
import { targetOf } from './target.js';

/** A server that speaks gRPC. */
export type GrpcTarget =
  | {
      /** `https://host:port`, or `http://…` without TLS. */
      readonly url: string;
      readonly tls: ClientTls;
      readonly dialer: Dialer;
    }
  | {
      readonly unixPath: string;
      /** The `:authority` of calls, for a server that checks it. A socket has no host, and most servers accept any. */
      readonly authority?: string;
    };

export const whereIs = (target: GrpcTarget): string => ('url' in target ? target.url : `unix://${target.unixPath}`);

/** What requests say of whom they are for. */
export function addressedTo(target: GrpcTarget): { readonly authority: string; readonly scheme: 'http' | 'https' } {
  if ('unixPath' in target) return { authority: target.authority ?? 'localhost', scheme: 'http' };
  const { host, protocol } = new URL(target.url);
  return { authority: host, scheme: protocol === 'https:' ? 'https' : 'http' };
}

export async function dialTarget(target: GrpcTarget, signal: AbortSignal): Promise<Duplex> {
  if ('unixPath' in target) return dialUnix(target.unixPath, signal);
  const url = new URL(target.url);
  const address = targetOf(url);
  const connection = await target.dialer.dial(address, signal);
  if (url.protocol !== 'https:') return connection;
  return handshake(connection, { tls: target.tls, host: address.host, protocols: ['h2'], signal });
}
