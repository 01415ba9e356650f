import type { HttpResponse } from '../lib/http.js';
import { whenReady } from '../lib/maybe-promise.js';
import type { Filter } from './exchange.js';

/** A webhook may refuse with any number. No status line has room for more than three digits: nothing is answered. */
export class UnsendableStatus extends Error {
  constructor(status: number) {
    super(`invalid WriteHeader code ${status}`);
  }
}

const LARGEST = 999;

export const sendableStatus: Filter = (exchange, next) => whenReady(next(exchange), sendable);

function sendable(response: HttpResponse): HttpResponse {
  if (response.status > LARGEST) throw new UnsendableStatus(response.status);
  return response;
}
