// The members of one etcd cluster: which of them a call or a watch goes to. Of the members that answer, a call goes to
// the one with the fewest calls in flight, so that a slow member has few. A member that failed is tried again after a
// backoff.
import type { Clock } from '../../lib/async/clock.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { GrpcError, UNAVAILABLE } from '../../outbound/grpc-error.js';
import { CHECK_PERIOD_MS, Member, type MemberConnection } from './member.js';

export interface EndpointsOptions {
  /** `https://host:port`, `unix://PATH`, or `http://…`, which may be left out. */
  readonly servers: readonly string[];
  readonly connect: (url: string) => Promise<MemberConnection>;
  readonly clock: Clock;
  /** Between attempts of one call. Somebody waits for it, so it keeps the process alive, as the clock does not. */
  readonly pause: (ms: number) => Promise<void>;
}

export class Endpoints {
  readonly members: readonly Member[];
  readonly pause: (ms: number) => Promise<void>;
  /** A member stopped answering while its connection is still there. */
  onSilent: (member: Member) => void = () => undefined;
  /** One more member answers. */
  onAnswers: () => void = () => undefined;
  readonly #clock: Clock;
  #next = 0;
  #closed = false;
  #stopChecks: () => void = () => undefined;
  readonly #waiting = new Set<() => void>();

  constructor({ servers, connect, clock, pause }: EndpointsOptions) {
    this.pause = pause;
    this.#clock = clock;
    this.members = servers.map((server) => {
      const url = /^(?:https?|unix):\/\//.test(server) ? server : `http://${server}`;
      return new Member({
        url,
        connect: () => connect(url),
        clock,
        onAnswers: () => this.#wake(),
        onSilent: (member) => this.onSilent(member),
      });
    });
    // Where there is but one, nothing is gained by leaving it.
    if (this.several) this.#check();
  }

  get several(): boolean {
    return this.members.length > 1;
  }

  /** Those that answer; where none does, those that are connected at least. */
  answering(): readonly Member[] {
    const connected = this.members.filter(({ connection }) => connection !== undefined);
    const now = this.#clock.now();
    const best = connected.filter((member) => !member.isSilent && member.restsUntilMs <= now);
    if (best.length > 0) return best;
    const speaking = connected.filter((member) => !member.isSilent);
    return speaking.length > 0 ? speaking : connected;
  }

  /** The member for a call. Rejects with a GrpcError where none can be reached. */
  // hot: every read and write
  member(): MaybePromise<Member> {
    const [only] = this.members;
    if (!this.several && only?.connection !== undefined) return only;
    return this.#leastUsed() ?? this.#firstConnected();
  }

  close(): void {
    this.#closed = true;
    this.#stopChecks();
    for (const member of this.members) member.close();
  }

  #check(): void {
    const answering = this.answering();
    for (const member of this.members) member.check(answering.some((other) => other !== member && !other.isSilent));
    this.#stopChecks = this.#clock.after(CHECK_PERIOD_MS, () => {
      if (!this.#closed) this.#check();
    });
  }

  /** Round robin among members with equally many calls in flight. */
  #leastUsed(): Member | undefined {
    const answering = this.answering();
    const start = this.#next++;
    let best: Member | undefined;
    for (let i = 0; i < answering.length; i++) {
      const member = answering[(start + i) % answering.length];
      if (member !== undefined && (best === undefined || member.inFlight < best.inFlight)) best = member;
    }
    return best;
  }

  async #firstConnected(): Promise<Member> {
    if (this.#closed) throw new GrpcError({ status: UNAVAILABLE, message: 'the client is closed', sent: false });
    const now = this.#clock.now();
    const rested = this.members.filter(({ restsUntilMs }) => restsUntilMs <= now);
    // When all have failed lately, the one that rested longest is tried.
    const longest = [...this.members].sort((a, b) => a.restsUntilMs - b.restsUntilMs).slice(0, 1);
    const attempts = (rested.length > 0 ? rested : longest).map((member) => member.connect());
    await this.#anyOf(attempts);
    return this.#leastUsed() ?? this.#firstConnected();
  }

  /** Until one is there, of these or of those that are tried meanwhile, or all of these have failed. */
  #anyOf(attempts: readonly Promise<void>[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#waiting.delete(done);
        resolve();
      };
      this.#waiting.add(done);
      Promise.any(attempts).then(done, (all: AggregateError) => {
        this.#waiting.delete(done);
        reject(all.errors[all.errors.length - 1] as Error);
      });
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.onAnswers();
  }
}
