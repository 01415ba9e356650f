// Calls to the audit webhook: the way to it, by its kubeconfig file.
import { Readable } from 'node:stream';
import { createWebhookBackend } from '../audit/webhook-backend.js';
import type { AuditBackend, OnLost } from '../audit/backend.js';
import { clientConfigOf, clientOf } from '../config/client-config.js';
import { loadKubeconfig } from '../config/kubeconfig.js';
import { errorText } from '../lib/error-text.js';
import { pause } from '../lib/pause.js';
import { collectBody, type HttpClient } from '../outbound/http-client.js';
import { OutboundError, requestErrorText } from '../outbound/outbound-error.js';
import type { Dialer } from '../outbound/dialer.js';

export interface AuditWebhookOptions {
  readonly file: string;
  readonly initialBackoffMs: number;
  readonly dialer: Dialer;
  /** Aborts when the server ends: nothing is waited for any more, only tried. */
  readonly ending: AbortSignal;
  readonly onLost: OnLost;
}

const TIMEOUT_SECONDS = 30;
/** What a webhook has to say is not looked at, and beyond this not even read. */
const MOST_ANSWER_BYTES = 64 * 1024;

export function buildAuditWebhook({ file, dialer, ending, ...options }: AuditWebhookOptions): AuditBackend {
  let client: HttpClient;
  let url: URL;
  try {
    const config = clientConfigOf(loadKubeconfig(file));
    client = clientOf(config, dialer);
    url = new URL(config.server);
  } catch (error) {
    throw new Error(`initializing audit webhook: ${errorText(error)}`, { cause: error });
  }
  url.searchParams.set('timeout', `${TIMEOUT_SECONDS}s`);
  const backend = createWebhookBackend({
    ...options,
    post: (body) => post(client, url, body),
    pause: (ms) => pause(ms, ending),
    random: Math.random,
  });
  return {
    isWaitedFor: backend.isWaitedFor,
    process: (events) => backend.process(events),
    async close() {
      await backend.close();
      client.close();
    },
  };
}

/** A larger list goes out piece by piece: several hundred events may have megabytes each. */
const MOST_JOINED_BYTES = 1024 * 1024;

async function post(client: HttpClient, url: URL, pieces: readonly Buffer[]): Promise<void> {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, */*',
    'content-length': String(bytes),
  };
  const body = bytes <= MOST_JOINED_BYTES ? Buffer.concat(pieces) : Readable.from(pieces, { objectMode: false });
  try {
    const response = await client.request({ method: 'POST', url, headers, body, timeoutMs: TIMEOUT_SECONDS * 1000 });
    const text = await collectBody(response, MOST_ANSWER_BYTES).catch(() => Buffer.alloc(0));
    if (response.status >= 200 && response.status < 300) return;
    throw new Error(`the webhook answered ${response.status}: ${text.toString('utf8').slice(0, MOST_TOLD_CHARACTERS)}`);
  } catch (error) {
    throw error instanceof OutboundError ? new Error(requestErrorText('POST', url, error), { cause: error }) : error;
  }
}

const MOST_TOLD_CHARACTERS = 200;
