// Work that one server of several does at a time: who holds a lease does it, and renews the lease meanwhile.
import type { Logger } from '../../lib/telemetry/log.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { errorText } from '../../lib/text/error-text.js';
import { pause } from '../../lib/async/pause.js';
import { type ServerClient, SERVER_MANAGER } from '../../registry/server-client.js';
import type { Lease, LeaseSpec } from '../../schema/generated/coordination.v1.js';
import { LEASES } from './election-step.js';
import { microTime } from './micro-time.js';

export interface LeaseLockOptions {
  readonly client: Pick<ServerClient, 'get' | 'create' | 'update'>;
  readonly namespace: string;
  readonly name: string;
  /** Who this server is. */
  readonly identity: string;
  /** For how long others leave a lease alone that is not renewed. */
  readonly leaseDurationMs: number;
  /** How long renewing may fail until this server stops leading. */
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  /** Begins the work; it ends with the signal. */
  readonly lead: (signal: AbortSignal) => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly now?: () => number;
  readonly random?: () => number;
}

/** Acquires the lease, leads, and starts over when the lease is lost. Resolves when `signal` aborted and all is released. */
export async function leadWhileHoldingLease(options: LeaseLockOptions): Promise<void> {
  const { signal, retryPeriodMs, lead, log, namespace, name, random = Math.random } = options;
  const lock = new LeaseLock(options);
  while (!signal.aborted) {
    while (!signal.aborted && !(await lock.tryHold())) await pause(retryPeriodMs * (1 + JITTER * random()), signal);
    if (signal.aborted) break;
    log.info(`holds the lease ${namespace}/${name}`);
    const leading = new AbortController();
    lead(leading.signal);
    await lock.keepHolding();
    leading.abort();
    log.info(`no longer holds the lease ${namespace}/${name}`);
    await pause(retryPeriodMs, signal);
  }
  await lock.release();
}

/** So that servers that wait do not all try at the same time. */
const JITTER = 1.2;

class LeaseLock {
  readonly #now: () => number;
  /** The lease as last seen, and when it was first seen so: clocks of servers differ, so times in it are not compared. */
  #seen: LeaseSpec | undefined;
  #seenMs = 0;

  constructor(private readonly options: LeaseLockOptions) {
    this.#now = options.now ?? Date.now;
  }

  /** Renews the lease or acquires it, if it is free. */
  async tryHold(): Promise<boolean> {
    try {
      return await this.#tryHold();
    } catch (error) {
      this.options.log.info(`lease ${this.options.namespace}/${this.options.name}: ${errorText(error)}`);
      return false;
    }
  }

  async keepHolding(): Promise<void> {
    const { signal, retryPeriodMs, renewDeadlineMs } = this.options;
    let renewedMs = this.#now();
    while (!signal.aborted) {
      await pause(retryPeriodMs, signal);
      if (signal.aborted) return;
      if (await this.tryHold()) renewedMs = this.#now();
      else if (this.#now() - renewedMs >= renewDeadlineMs) return;
    }
  }

  /** Lets others have it at once. */
  async release(): Promise<void> {
    if (this.#seen?.holderIdentity !== this.options.identity) return;
    const time = microTime(this.#now());
    const leaseTransitions = this.#seen.leaseTransitions ?? 0;
    const times = { acquireTime: time, renewTime: time };
    try {
      await this.#write({ holderIdentity: '', leaseDurationSeconds: 1, ...times, leaseTransitions });
    } catch (error) {
      this.options.log.info(`lease ${this.options.namespace}/${this.options.name}: ${errorText(error)}`);
    }
  }

  async #tryHold(): Promise<boolean> {
    const { client, namespace, name, identity, leaseDurationMs } = this.options;
    const time = microTime(this.#now());
    const own: LeaseSpec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.trunc(leaseDurationMs / 1000),
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 0,
    };
    const lease = (await client.get(LEASES, namespace, name)) as Lease | undefined;
    if (lease === undefined) {
      const object: Lease = {
        kind: 'Lease',
        apiVersion: 'coordination.k8s.io/v1',
        metadata: { namespace, name },
        spec: own,
      };
      const made = await client.create(LEASES, object, SERVER_MANAGER);
      if (made) this.#see(own);
      return made;
    }
    if (!deepEqual(lease.spec, this.#seen)) this.#see(lease.spec);
    const { holderIdentity = '', leaseDurationSeconds = 0, acquireTime = time, leaseTransitions = 0 } = lease.spec;
    if (holderIdentity === identity) return this.#write({ ...own, acquireTime, leaseTransitions });
    const isHeld = holderIdentity !== '' && this.#seenMs + leaseDurationSeconds * 1000 > this.#now();
    return !isHeld && this.#write({ ...own, leaseTransitions: leaseTransitions + 1 });
  }

  /** Only in the place of what was seen: another server may have been faster. */
  async #write(spec: LeaseSpec): Promise<boolean> {
    const { client, namespace, name } = this.options;
    const lease: Lease = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', metadata: { namespace, name }, spec };
    let changed = false;
    const change = (current: Lease): Lease => {
      changed = !deepEqual(current.spec, this.#seen);
      return changed ? current : { ...current, spec };
    };
    await client.update({
      resource: LEASES,
      object: lease,
      change: (object) => change(object as Lease),
      manager: SERVER_MANAGER,
    });
    if (!changed) this.#see(spec);
    return !changed;
  }

  #see(spec: LeaseSpec): void {
    this.#seen = spec;
    this.#seenMs = this.#now();
  }
}
