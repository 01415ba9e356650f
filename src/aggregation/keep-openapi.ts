// Asks extension servers for their OpenAPI documents: soon after a registration came or changed, then every minute; less
// and less often while they do not say.
import type { Logger } from '../lib/telemetry/log.js';
import type { Clock } from '../lib/async/clock.js';
import { errorText } from '../lib/text/error-text.js';
import { WorkQueue } from '../lib/async/work-queue.js';
import { type ApiServices, isAvailable } from './api-services.js';
import type { RemoteOpenApi } from './remote-openapi.js';

export interface KeepOpenApiOptions {
  readonly services: ApiServices;
  readonly documents: Pick<RemoteOpenApi, 'refresh' | 'forget'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

const SOON_MS = 1000;
const REFRESH_MS = 60_000;
const MAX_PAUSE_MS = 3_600_000;
/** One that hangs keeps its place for a minute; so many may before others wait. */
const CONCURRENCY = 16;

export function keepOpenApi({ services, documents, clock, signal, log }: KeepOpenApiOptions): void {
  const scheduled = new Map<string, () => void>();
  const failures = new Map<string, number>();
  const queue = new WorkQueue({ name: 'OpenAPI', work, concurrency: CONCURRENCY, clock, signal, log });
  services.subscribe((name) => {
    if (services.remote(name) !== undefined) return schedule(name, SOON_MS);
    scheduled.get(name)?.();
    scheduled.delete(name);
    failures.delete(name);
    documents.forget(name);
  });

  function schedule(name: string, afterMs: number): void {
    scheduled.get(name)?.();
    const start = (): void => {
      scheduled.delete(name);
      queue.add(name);
    };
    scheduled.set(name, clock.after(afterMs, start));
  }

  async function work(name: string): Promise<'done'> {
    const service = services.remote(name);
    // An unavailable server changes when it comes back, and is fetched then.
    if (service === undefined || !isAvailable(service)) return 'done';
    try {
      await documents.refresh(service);
      failures.delete(name);
      again(name, REFRESH_MS);
    } catch (error) {
      const failed = failures.get(name) ?? 0;
      log.info(`OpenAPI of ${name}: ${errorText(error)}`);
      if (again(name, Math.min(REFRESH_MS * 2 ** failed, MAX_PAUSE_MS))) failures.set(name, failed + 1);
    }
    return 'done';
  }

  /** Unless it went meanwhile, or is due sooner. */
  function again(name: string, afterMs: number): boolean {
    if (services.remote(name) === undefined) return false;
    if (!scheduled.has(name)) schedule(name, afterMs);
    return true;
  }
}
