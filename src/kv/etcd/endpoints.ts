// The servers of one etcd: which one to talk to. One that fails is left for another and returned to later.
import fs from 'node:fs';
import type { Clock } from '../../lib/clock.js';
import type { ClientTls } from '../../outbound/client-tls.js';
import type { Dialer } from '../../outbound/dialer.js';
import { GrpcConnection } from '../../outbound/grpc.js';
import { GrpcError, UNAVAILABLE } from '../../outbound/grpc-error.js';

export interface EndpointOptions {
  /** `https://host:port`, or `http://…`. */
  readonly servers: readonly string[];
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly dialer: Dialer;
}

const RETRY_MIN_MS = 200;
const RETRY_MAX_MS = 10_000;

interface Endpoint {
  readonly url: string;
  connection: Promise<GrpcConnection> | undefined;
  live: GrpcConnection | undefined;
  /** Not tried before this time, unless all others fail too. */
  notBeforeMs: number;
  failures: number;
}

export class Endpoints {
  readonly #endpoints: Endpoint[];
  readonly #options: EndpointOptions;
  readonly #clock: Clock;
  #closed = false;

  constructor(options: EndpointOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#endpoints = options.servers.map((server) => ({
      url: /^https?:\/\//.test(server) ? server : `http://${server}`,
      connection: undefined,
      live: undefined,
      notBeforeMs: 0,
      failures: 0,
    }));
  }

  get several(): boolean {
    return this.#endpoints.length > 1;
  }

  /** A connection to the first server in order that answers; one that is back is returned to once it is connected. */
  async connection(): Promise<GrpcConnection> {
    const now = this.#clock.now();
    const live = this.#endpoints.findIndex((endpoint) => endpoint.live?.usable === true);
    const rested = this.#endpoints.filter(({ notBeforeMs }) => notBeforeMs <= now);
    const connection = this.#endpoints[live]?.live;
    if (connection !== undefined) {
      // Nobody waits for a server that may not answer while another does.
      for (const endpoint of rested) {
        if (this.#endpoints.indexOf(endpoint) < live) this.#connect(endpoint).catch(() => undefined);
      }
      return connection;
    }
    // When all have failed lately, the one that rested longest is tried.
    const candidates =
      rested.length > 0 ? rested : [...this.#endpoints].sort((a, b) => a.notBeforeMs - b.notBeforeMs).slice(0, 1);
    let last: unknown;
    for (const endpoint of candidates) {
      if (this.#closed) break;
      try {
        return await this.#connect(endpoint);
      } catch (error) {
        last = error;
      }
    }
    throw last ?? new GrpcError({ status: UNAVAILABLE, message: 'the client is closed', sent: false });
  }

  /** A server that no longer answers is left for another, if there is one. */
  gaveNoAnswer(connection: GrpcConnection): void {
    if (this.several) connection.close();
  }

  close(): void {
    this.#closed = true;
    for (const endpoint of this.#endpoints) {
      endpoint.connection?.then(
        (connection) => connection.close(),
        () => undefined,
      );
    }
  }

  #connect(endpoint: Endpoint): Promise<GrpcConnection> {
    endpoint.connection ??= this.#open(endpoint);
    return endpoint.connection;
  }

  async #open(endpoint: Endpoint): Promise<GrpcConnection> {
    try {
      const connection = await GrpcConnection.open({
        url: endpoint.url,
        tls: this.#tls(),
        dialer: this.#options.dialer,
      });
      endpoint.live = connection;
      const openedMs = this.#clock.now();
      connection.onClose(() => {
        endpoint.connection = undefined;
        endpoint.live = undefined;
        // One that keeps accepting and dropping connections rests longer and longer as well.
        if (this.#clock.now() - openedMs > RETRY_MAX_MS) endpoint.failures = 0;
        this.#rest(endpoint);
      });
      return connection;
    } catch (error) {
      endpoint.connection = undefined;
      this.#rest(endpoint);
      throw error;
    }
  }

  #rest(endpoint: Endpoint): void {
    endpoint.failures++;
    const pauseMs = Math.min(RETRY_MIN_MS * 2 ** (endpoint.failures - 1), RETRY_MAX_MS);
    endpoint.notBeforeMs = this.#clock.now() + pauseMs;
  }

  /** Read for every connection, so that renewed certificates are taken up. */
  #tls(): ClientTls {
    const { caFile, certFile, keyFile } = this.#options;
    return {
      ...(caFile ? { ca: fs.readFileSync(caFile) } : {}),
      ...(certFile ? { cert: fs.readFileSync(certFile) } : {}),
      ...(keyFile ? { key: fs.readFileSync(keyFile) } : {}),
    };
  }
}
