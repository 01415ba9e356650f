// One request of a connection, as the handler sees it.
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { HttpRequest } from '../../lib/http/http.js';
import { parseQuery } from '../../lib/http/request-target.js';
import { Abortable } from '../../lib/async/abortable.js';
import type { BodyErrors } from '../body-errors.js';
import { IncomingBody } from './incoming-body.js';
import type { RequestHead } from './request-head.js';

/** What the requests of one connection share. */
export interface Peer {
  readonly remoteAddress: string;
  readonly localAddress: () => string;
  readonly clientCertificates: () => readonly Buffer[];
}

/** What a request needs of the connection it came by. */
export interface RequestOwner {
  readonly peer: Peer;
  readonly bodyErrors: BodyErrors;
  /** Bytes of the body are wanted from here on. */
  readBody(): void;
  /** Ends the connection, whatever was written. */
  abandon(): void;
}

/** The connection for a handler that speaks another protocol on it: its first use detaches the HTTP/1.1 reader. */
export class Handover {
  #head: Buffer | undefined = undefined;

  constructor(
    private readonly connection: Socket | TLSSocket,
    private readonly release: () => Buffer,
  ) {}

  get isTaken(): boolean {
    return this.#head !== undefined;
  }

  /** What has come already. */
  get head(): Buffer {
    return (this.#head ??= this.release());
  }

  get socket(): Socket | TLSSocket {
    this.#head ??= this.release();
    return this.connection;
  }
}

export class Http1Request extends Abortable implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly httpVersion: '1.0' | '1.1';
  headers: Readonly<Record<string, string | undefined>>;
  readonly rawHeaders: readonly string[];
  readonly host: string;
  readonly incoming: IncomingBody;
  /** An answer in pieces has begun. */
  responded = false;
  /** `100 Continue` was sent. */
  continued = false;
  #query: URLSearchParams | undefined = undefined;

  constructor(
    readonly head: RequestHead,
    private readonly owner: RequestOwner,
    readonly upgrade: Handover | undefined,
  ) {
    super();
    this.method = head.method;
    this.path = head.path;
    this.search = head.search;
    this.httpVersion = head.version;
    this.headers = head.headers;
    this.rawHeaders = head.rawHeaders;
    this.host = head.host;
    this.incoming = new IncomingBody(head.framing, owner.bodyErrors);
  }

  get query(): URLSearchParams {
    return (this.#query ??= parseQuery(this.search));
  }

  get remoteAddress(): string {
    return this.owner.peer.remoteAddress;
  }

  get clientCertificates(): readonly Buffer[] {
    return this.owner.peer.clientCertificates();
  }

  get connection(): object {
    return this.owner;
  }

  cancel(reason: Error): void {
    this.stop(reason);
    const { localAddress, remoteAddress } = this.owner.peer;
    this.incoming.cut(`read tcp ${localAddress()}->${remoteAddress}: i/o timeout`);
    if (this.responded) this.owner.abandon();
  }

  body(limitBytes: number): Promise<Buffer> {
    const whole = this.incoming.read(limitBytes);
    this.owner.readBody();
    return whole;
  }

  bodyStream(): Readable | undefined {
    return this.head.framing.kind === 'none' ? undefined : this.incoming.stream(() => this.owner.readBody());
  }
}
