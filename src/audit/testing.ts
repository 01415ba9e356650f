// Events, a clock and back ends for the tests of this room.
import type { Clock } from '../lib/async/clock.js';
import type { AuditBackend, OnLost } from './backend.js';
import type { AuditEvent } from './event.js';

export function testEvent(auditId: string, over: Partial<AuditEvent> = {}): AuditEvent {
  const request = {
    uri: '/version',
    verb: 'get',
    user: { name: 'alice', groups: ['dev'] },
    sourceIps: ['10.0.0.1'],
    userAgent: 'tester',
    namespace: '',
    objectRef: '',
    subjectJson: '"requestURI":"/version","verb":"get","user":{"username":"alice","groups":["dev"]}',
    clientJson: ',"sourceIPs":["10.0.0.1"],"userAgent":"tester"',
    patterns: { received: undefined, reached: undefined, both: undefined },
  };
  return {
    level: 'Metadata',
    stage: 'ResponseComplete',
    auditId,
    hasOwnAuditId: false,
    request,
    impersonatedUser: undefined,
    objectRef: '',
    response: { code: 200, json: '{"metadata":{},"code":200}', plain: true },
    requestObject: undefined,
    responseObject: undefined,
    receivedMs: Date.parse('2026-11-15T08:30:00.120Z'),
    elapsedUs: 3456,
    authorized: undefined,
    annotations: undefined,
    ...over,
  };
}

/** Moved by hand. */
export class TestClock implements Clock {
  private atMs = 1_000_000;
  private timers: { readonly atMs: number; readonly callback: () => void }[] = [];

  now(): number {
    return this.atMs;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { atMs: this.atMs + ms, callback };
    this.timers.push(timer);
    return () => void (this.timers = this.timers.filter((one) => one !== timer));
  }

  tick(ms: number): void {
    const untilMs = this.atMs + ms;
    for (;;) {
      const [next] = this.timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.timers = this.timers.filter((one) => one !== next);
      this.atMs = next.atMs;
      next.callback();
    }
    this.atMs = untilMs;
  }
}

/** Keeps the ids of what it gets, batch by batch. `hold`: a batch is not stored before `goOn`. */
export function testBackend(): AuditBackend & { readonly batches: string[][]; hold: boolean; goOn(): void } {
  const held: (() => void)[] = [];
  const batches: string[][] = [];
  return {
    isWaitedFor: true,
    batches,
    hold: false,
    process(events) {
      batches.push(events.map(({ auditId }) => auditId));
      return this.hold ? new Promise((resolve) => held.push(() => resolve(true))) : true;
    },
    goOn() {
      for (const resolve of held.splice(0)) resolve();
    },
    close: () => Promise.resolve(),
  };
}

/** `plugin: id id` for each time events were lost. */
export function lossesOf(): { readonly losses: string[]; readonly onLost: OnLost } {
  const losses: string[] = [];
  return {
    losses,
    onLost: (plugin, _why, events) => losses.push(`${plugin}: ${events.map(({ auditId }) => auditId).join(' ')}`),
  };
}
