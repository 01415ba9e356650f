// An issuer without a network: its documents, its keys, and tokens it signs.
import { type KeyObject, generateKeyPairSync } from 'node:crypto';
import { CompactSign } from 'jose';
import type { Clock } from '../../lib/async/clock.js';
import type { FetchDocument } from './issuer-http.js';

export interface TestKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly jwk: object;
}

export function newKey(id: string): TestKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { id, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid: id } };
}

export class TestIssuer {
  readonly url = 'https://issuer.test';
  readonly requests: string[] = [];
  keys: TestKey[] = [newKey('k1')];
  /** What it does instead of answering. */
  trouble: (() => never) | undefined;
  jwksHeaders: Record<string, string> = {};

  readonly fetch: FetchDocument = async (url) => {
    this.requests.push(url.slice(this.url.length));
    this.trouble?.();
    const body = url.endsWith('/keys')
      ? { keys: this.keys.map(({ jwk }) => jwk) }
      : { issuer: this.url, jwks_uri: `${this.url}/keys` };
    return { status: 200, statusLine: '200 OK', headers: this.jwksHeaders, body: JSON.stringify(body) };
  };

  async sign(claims: object, key = this.keys[0] as TestKey): Promise<string> {
    return new CompactSign(Buffer.from(JSON.stringify({ iss: this.url, aud: 'me', sub: 'sam', ...claims })))
      .setProtectedHeader({ alg: 'ES256', kid: key.id })
      .sign(key.privateKey);
  }
}

/** A clock that tests move. */
export class TestClock implements Clock {
  #nowMs = Date.parse('2030-01-01T00:00:00Z');
  #waiting: { readonly atMs: number; readonly callback: () => void }[] = [];

  now(): number {
    return this.#nowMs;
  }

  seconds(): number {
    return Math.floor(this.#nowMs / 1000);
  }

  after(ms: number, callback: () => void): () => void {
    const entry = { atMs: this.#nowMs + ms, callback };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((one) => one !== entry);
    };
  }

  /** Runs what falls due, and lets what that began settle. */
  async advance(ms: number): Promise<void> {
    this.#nowMs += ms;
    const due = this.#waiting.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#waiting = this.#waiting.filter(({ atMs }) => atMs > this.#nowMs);
    for (const { callback } of due) callback();
    for (let tick = 0; tick < 10; tick++) await Promise.resolve();
  }
}
