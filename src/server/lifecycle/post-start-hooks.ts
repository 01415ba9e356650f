// What begins once the port is open; each is a health check until it has begun well.
import type { Logger } from '../../lib/telemetry/log.js';
import type { Health, HealthCheck } from './health.js';

export interface PostStartHook {
  readonly name: string;
  /** Returns when started; work that goes on ends with `signal`. Throwing ends the process. */
  run(signal: AbortSignal): Promise<void> | void;
}

/** Of several processes that are one server, one does what is done once for all. */
export interface StartRole {
  readonly isFirst: boolean;
  /** The first process has run its hooks. */
  readonly firstStarted: Promise<void>;
}

export class PostStartHooks {
  private readonly hooks: { readonly hook: PostStartHook; done: boolean }[] = [];

  constructor(
    private readonly health: Health,
    private readonly role?: StartRole,
  ) {}

  /** A hook that runs in one process of the server; in the others it is done when that one has started. */
  addOnce(hook: PostStartHook): void {
    const { role } = this;
    this.add(role === undefined || role.isFirst ? hook : { name: hook.name, run: () => role.firstStarted });
  }

  add(hook: PostStartHook): void {
    const entry = { hook, done: false };
    this.hooks.push(entry);
    this.health.addBoot({
      name: `poststarthook/${hook.name}`,
      check: () => (entry.done ? undefined : 'not finished'),
    });
  }

  /** Adds a check of a part of the start-up that continues after its hook has begun. */
  addCheck(check: HealthCheck): void {
    this.health.addBoot(check);
  }

  /** Adds a check of the start-up that only readiness depends on. */
  addReadyCheck(check: HealthCheck): void {
    this.health.addReadyz(check);
  }

  /** Runs all at once; resolves when each has begun. */
  async run(signal: AbortSignal, log: Logger): Promise<void> {
    await Promise.all(
      this.hooks.map(async (entry) => {
        try {
          await entry.hook.run(signal);
          entry.done = true;
        } catch (error) {
          if (signal.aborted) return;
          log.error(error, 'PostStartHook failed', { name: entry.hook.name });
          throw new PostStartHookError(entry.hook.name, error);
        }
      }),
    );
  }
}

export class PostStartHookError extends Error {
  constructor(name: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`PostStartHook "${name}" failed: ${why}`, { cause });
  }
}
