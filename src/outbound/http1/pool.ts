// The HTTP/1.1 connections to one origin that lie idle: the one used last is used next, so that the others may go.
import type { Duplex } from 'node:stream';
import { type ConnectionOwner, Http1Connection } from './connection.js';

const IDLE_MS = 90_000;
const MAX_IDLE_CONNECTIONS = 25;
/** A connection is dropped this much before the server's keep-alive timeout, as a request needs time to arrive. */
const KEEP_ALIVE_MARGIN_MS = 1000;

export class Http1Pool implements ConnectionOwner {
  readonly #idle: { readonly connection: Http1Connection; readonly timer: NodeJS.Timeout }[] = [];
  #retired = false;

  /** A connection of this pool, which comes back to it when its exchange is over. */
  adopt(socket: Duplex): Http1Connection {
    return new Http1Connection(socket, this);
  }

  /** Adds a connection that was opened for another purpose, for the next request. */
  add(socket: Duplex): void {
    this.idle(this.adopt(socket), Infinity);
  }

  get hasIdle(): boolean {
    return this.#idle.length > 0;
  }

  take(): Http1Connection | undefined {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      clearTimeout(last.timer);
      if (last.connection.usable) return last.connection;
    }
    return undefined;
  }

  idle(connection: Http1Connection, keepAliveMs: number): void {
    const keptMs = Math.min(IDLE_MS, keepAliveMs - Math.min(KEEP_ALIVE_MARGIN_MS, keepAliveMs / 2));
    if (this.#retired || this.#idle.length >= MAX_IDLE_CONNECTIONS || keptMs <= 0) return connection.close();
    connection.rest();
    const timer = setTimeout(() => connection.close(), keptMs).unref();
    this.#idle.push({ connection, timer });
  }

  gone(connection: Http1Connection): void {
    const index = this.#idle.findIndex((one) => one.connection === connection);
    const [left] = index < 0 ? [] : this.#idle.splice(index, 1);
    clearTimeout(left?.timer);
  }

  /** Connections in use go when their answers are read. */
  retire(): void {
    this.#retired = true;
    for (let one = this.take(); one !== undefined; one = this.take()) one.close();
  }
}
