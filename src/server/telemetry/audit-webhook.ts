// Calls to the audit webhook: the way to it, by its kubeconfig file.
import { createWebhookBackend } from '../../audit/webhook-backend.js';
import type { AuditBackend, OnLost } from '../../audit/backend.js';
import { clientConfigOf, clientOf } from '../../config/client-config.js';
import { loadKubeconfig } from '../../config/kubeconfig.js';
import { errorText } from '../../lib/text/error-text.js';
import { pause } from '../../lib/async/pause.js';
import { restCall, type RestObserver } from '../../machinery/rest-call.js';
import { reviewUrl } from '../../machinery/review-url.js';
import type { Dialer } from '../../outbound/dialer.js';
import type { HttpClient } from '../../outbound/http-client.js';

export interface AuditWebhookOptions {
  readonly file: string;
  readonly initialBackoffMs: number;
  readonly dialer: Dialer;
  /** Aborts when the server ends: nothing is waited for any more, only tried. */
  readonly ending: AbortSignal;
  readonly observe?: RestObserver;
  readonly onLost: OnLost;
}

const TIMEOUT_MS = 30_000;
/** What a webhook has to say is not looked at, but read to its end: until then it may still fail. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export function buildAuditWebhook({ file, dialer, ending, observe, ...options }: AuditWebhookOptions): AuditBackend {
  let client: HttpClient;
  let url: URL;
  try {
    const config = clientConfigOf(loadKubeconfig(file));
    client = clientOf(config, dialer);
    url = reviewUrl(config.server, TIMEOUT_MS);
  } catch (error) {
    throw new Error(`initializing audit webhook: ${errorText(error)}`, { cause: error });
  }
  const wait = (ms: number): Promise<void> => pause(ms, ending);
  const backend = createWebhookBackend({
    ...options,
    post: async (pieces) => {
      const body = joinedWhereSmall(pieces);
      await restCall({ client, url, body, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, wait, observe });
    },
    pause: wait,
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
const MAX_JOINED_BYTES = 1024 * 1024;

function joinedWhereSmall(pieces: readonly Buffer[]): Buffer | readonly Buffer[] {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  return bytes <= MAX_JOINED_BYTES ? Buffer.concat(pieces) : pieces;
}
