import type { HttpResponse } from '../lib/http/http.js';
import { whenReady } from '../lib/async/maybe-promise.js';
import type { Filter } from './exchange.js';

/** Webhooks and other servers may answer with any number. A status line has room for three digits: else nothing is answered. */
export class UnsendableStatus extends Error {
  constructor(status: number) {
    super(`invalid WriteHeader code ${status}`);
  }
}

const SMALLEST = 100;
const LARGEST = 999;

export const sendableStatus: Filter = (exchange, next) => whenReady(next(exchange), sendable);

function sendable(response: HttpResponse): HttpResponse {
  const { status } = response;
  if (status < SMALLEST || status > LARGEST) throw new UnsendableStatus(status);
  return response;
}
