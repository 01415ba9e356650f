// /healthz, /livez and /readyz: named checks, alone or all together.
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { goQuote } from '../../lib/go/quote.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { plainError } from '../../filters/plain-response.js';
import { checkRank } from './check-order.js';

export interface HealthCheck {
  readonly name: string;
  /** Checks with a group can be excluded together. */
  readonly group?: string;
  /** `undefined` when healthy, else what is wrong. */
  check(): MaybePromise<string | undefined>;
}

export type HealthEndpoint = 'healthz' | 'livez' | 'readyz';

export interface HealthOptions {
  /** `--livez-grace-period`: how long from the start /livez counts unfinished start-up as healthy. */
  readonly livezGracePeriodMs: number;
  readonly now?: () => number;
  readonly log: Logger;
  /** Called with the result of each check. */
  readonly observe?: (check: string, endpoint: HealthEndpoint, healthy: boolean) => void;
  /** What fails in the other processes of this server. */
  readonly others?: (endpoint: HealthEndpoint) => Promise<readonly FailedChecks[]>;
}

/** Why, by the name of the check. */
export type FailedChecks = Readonly<Record<string, string>>;

export class Health {
  private readonly checks: Record<HealthEndpoint, HealthCheck[]> = { healthz: [], livez: [], readyz: [] };
  private readonly now: () => number;
  private readonly startedMs: number;

  constructor(private readonly options: HealthOptions) {
    this.now = options.now ?? Date.now;
    this.startedMs = this.now();
    this.add(PING);
    this.add({ name: 'log', check: () => undefined });
  }

  /** On all three endpoints. */
  add(check: HealthCheck): void {
    this.checks.healthz.push(check);
    this.checks.livez.push(check);
    this.checks.readyz.push(check);
  }

  /** A check of the start-up: /livez ignores its failure until the grace period is over. */
  addBoot(check: HealthCheck): void {
    this.checks.healthz.push(check);
    this.checks.readyz.push(check);
    const endMs = this.startedMs + this.options.livezGracePeriodMs;
    const graced = (): MaybePromise<string | undefined> => (this.now() > endMs ? check.check() : undefined);
    this.checks.livez.push(this.options.livezGracePeriodMs > 0 ? { ...check, check: graced } : check);
  }

  /** A check of something that a restart of the server would not repair. */
  addExceptLivez(check: HealthCheck): void {
    this.checks.healthz.push(check);
    this.checks.readyz.push(check);
  }

  addReadyz(check: HealthCheck): void {
    this.checks.readyz.push(check);
  }

  /** What fails in this process. */
  async failures(endpoint: HealthEndpoint): Promise<FailedChecks> {
    const failed: Record<string, string> = {};
    for (const each of this.checks[endpoint]) {
      const wrong = await each.check();
      if (wrong !== undefined) failed[each.name] = wrong;
    }
    return failed;
  }

  /** What /readyz would say, for the server itself. */
  async ready(): Promise<boolean> {
    const wrong = await Promise.all(this.checks.readyz.map(async (check) => check.check()));
    return wrong.every((each) => each === undefined);
  }

  /** The paths served, for the index. */
  paths(): string[] {
    return (['healthz', 'livez', 'readyz'] as const).flatMap((endpoint) => [
      `/${endpoint}`,
      ...this.checks[endpoint].map(({ name }) => `/${endpoint}/${name}`),
    ]);
  }

  /** `undefined` when the path is not one of health. */
  handle(request: HttpRequest, path: string): MaybePromise<HttpResponse> | undefined {
    const match = /^\/(healthz|livez|readyz)(?:\/(.+))?$/.exec(path);
    if (match === null) return undefined;
    const endpoint = match[1] as HealthEndpoint;
    const name = match[2];
    if (name === undefined) return this.all(endpoint, request);
    const check = this.checks[endpoint].find((each) => each.name === name);
    return check === undefined ? undefined : one(check);
  }

  private async all(endpoint: HealthEndpoint, request: HttpRequest): Promise<HttpResponse> {
    const { log, observe } = this.options;
    const excluded = new Set(request.search === '' ? [] : request.query.getAll('exclude'));
    const unknown = new Set(excluded);
    let output = '';
    let details = '';
    const failed: string[] = [];
    const elsewhere = (await this.options.others?.(endpoint)) ?? [];
    for (const check of inOrder(this.checks[endpoint])) {
      const { name, group } = check;
      if (excluded.has(name)) {
        unknown.delete(name);
        output += `[+]${name} excluded: ok\n`;
        continue;
      }
      if (group !== undefined && excluded.has(group)) {
        unknown.delete(group);
        output += `[+]${name} excluded with ${group}: ok\n`;
        continue;
      }
      const wrong = (await check.check()) ?? elsewhere.find((failures) => failures[name] !== undefined)?.[name];
      observe?.(name, endpoint, wrong === undefined);
      if (wrong === undefined) {
        output += `[+]${name} ok\n`;
        continue;
      }
      // Anyone may call this endpoint, so the reason goes to the log alone.
      output += `[-]${name} failed: reason withheld\n`;
      details += `[-]${name} failed: ${wrong}\n`;
      failed.push(name);
    }
    if (unknown.size > 0) {
      const names = [...unknown].sort().map(goQuote).join(',');
      output += `warn: some health checks cannot be excluded: no matches for ${names}\n`;
    }
    if (failed.length > 0) {
      log.v(2)?.plain(`${failed.join(',')} check failed: ${endpoint}\n${details}`);
      return plainError(500, `${output}${endpoint} check failed`);
    }
    return ok(request.query.has('verbose') ? `${output}${endpoint} check passed\n` : 'ok');
  }
}

const inOrder = (checks: readonly HealthCheck[]): readonly HealthCheck[] =>
  checks.toSorted((a, b) => checkRank(a.name) - checkRank(b.name));

const PING: HealthCheck = { name: 'ping', check: () => undefined };

async function one(check: HealthCheck): Promise<HttpResponse> {
  const wrong = await check.check();
  if (wrong !== undefined) return plainError(500, `internal server error: ${wrong}`);
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'ok' };
}

const ok = (body: string): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body,
});
