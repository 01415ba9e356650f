// HTTP/2 as a client, over a connection that the caller has dialed.
import type { Duplex } from 'node:stream';
import { systemClock } from '../lib/async/clock.js';
import { writeScheduler } from '../lib/scheduling/write-scheduler.js';
import { type ClientOptions, Http2Client } from './http2/client.js';
import { BufferPool } from '../lib/values/buffer-pool.js';

const pool = new BufferPool();

/** Calls `onReady` when the server has sent its SETTINGS, `onClose` when the connection is over. */
export const startHttp2Client = (
  socket: Duplex,
  options: Omit<ClientOptions, 'scheduler' | 'pool' | 'clock'>,
): Http2Client => new Http2Client(socket, { ...options, scheduler: writeScheduler, pool, clock: systemClock });
