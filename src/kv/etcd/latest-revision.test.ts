import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { type Departure, LatestRevision, OVERTAKE_MS } from './latest-revision.js';

/** etcd, as far as revisions go: what left is carried out at some time, and answered at some later time. */
class Etcd {
  readonly clock = new ManualClock();
  readonly questions: { readonly answer: (revision: number) => void; readonly fail: () => void }[] = [];
  readonly #ends: (() => void)[] = [];
  readonly latest: LatestRevision = new LatestRevision({
    clock: this.clock,
    atIterationEnd: (run) => void this.#ends.push(run),
    ask: () => {
      const departure = this.latest.leaves();
      return new Promise<void>((resolve, reject) =>
        this.questions.push({
          answer: (revision) => {
            this.latest.answered(departure, revision);
            resolve();
          },
          fail: () => {
            this.latest.failed(departure);
            reject(new Error('unavailable'));
          },
        }),
      );
    },
  });

  async endIteration(): Promise<void> {
    for (const run of this.#ends.splice(0)) run();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** A question leaves at the end of the iteration after its first read. */
  async endTwoIterations(): Promise<void> {
    await this.endIteration();
    await this.endIteration();
  }
}

describe('the latest revision', () => {
  it('is asked for once for all reads of an iteration and the next', async () => {
    const etcd = new Etcd();
    const reads = [etcd.latest.get(), etcd.latest.get()];
    await etcd.endIteration();
    reads.push(etcd.latest.get());
    assert.equal(etcd.questions.length, 0);
    await etcd.endIteration();
    assert.equal(etcd.questions.length, 1);
    etcd.questions[0]?.answer(7);
    assert.deepEqual(await Promise.all(reads), [7, 7, 7]);
  });

  it('is not asked for where a write leaves meanwhile', async () => {
    const etcd = new Etcd();
    const read = etcd.latest.get();
    await etcd.endIteration();
    const write = etcd.latest.leaves();
    await etcd.endIteration();
    etcd.latest.answered(write, 8);
    assert.equal(await read, 8);
    assert.equal(etcd.questions.length, 0);
  });

  it('is asked for again for reads that came after the question left, once that is answered', async () => {
    const etcd = new Etcd();
    const first = etcd.latest.get();
    await etcd.endTwoIterations();
    const later = etcd.latest.get();
    assert.equal(etcd.questions.length, 1);
    etcd.questions[0]?.answer(7);
    assert.equal(await first, 7);
    await etcd.endTwoIterations();
    etcd.questions[1]?.answer(9);
    assert.equal(await later, 9);
  });

  it('is what a write says that left after the read came, without a question', async () => {
    const etcd = new Etcd();
    const asking = etcd.latest.get();
    await etcd.endTwoIterations();
    const read = etcd.latest.get();
    const write = etcd.latest.leaves();
    await etcd.endTwoIterations();
    etcd.questions[0]?.answer(7);
    assert.equal(await asking, 7);
    await etcd.endTwoIterations();
    assert.equal(etcd.questions.length, 1);
    etcd.latest.answered(write, 8);
    assert.equal(await read, 8);
  });

  it('is not what a write says that had left before', async () => {
    const etcd = new Etcd();
    const write = etcd.latest.leaves();
    await etcd.endTwoIterations();
    const read = etcd.latest.get();
    await etcd.endTwoIterations();
    assert.equal(etcd.questions.length, 1);
    etcd.latest.answered(write, 8);
    etcd.questions[0]?.answer(9);
    assert.equal(await read, 9);
  });

  it('is not what a write says that left earlier in the same iteration', async () => {
    const etcd = new Etcd();
    const write = etcd.latest.leaves();
    const before = etcd.latest.get();
    etcd.latest.departed();
    const after = etcd.latest.get();
    etcd.latest.answered(write, 8);
    assert.equal(await before, 8);
    await etcd.endTwoIterations();
    etcd.questions[0]?.answer(9);
    assert.equal(await after, 9);
  });

  it('is asked for when the write that would have said it fails, or takes long', async () => {
    const etcd = new Etcd();
    const [failing, slow] = [etcd.latest.leaves(), etcd.latest.leaves()];
    const read = etcd.latest.get();
    await etcd.endTwoIterations();
    etcd.latest.failed(failing);
    assert.equal(etcd.questions.length, 0);
    await etcd.clock.move(OVERTAKE_MS);
    assert.equal(etcd.questions.length, 1);
    etcd.questions[0]?.answer(7);
    assert.equal(await read, 7);
    const other = etcd.latest.get();
    await etcd.endTwoIterations();
    etcd.questions[1]?.answer(8);
    assert.equal(await other, 8);
    etcd.latest.answered(slow, 8);

    const lost = etcd.latest.leaves();
    const last = etcd.latest.get();
    await etcd.endTwoIterations();
    etcd.latest.failed(lost);
    await etcd.endTwoIterations();
    etcd.questions[2]?.answer(9);
    assert.equal(await last, 9);
  });

  it('is asked for again while a question takes long, by so many and no more', async () => {
    const etcd = new Etcd();
    const reads: Promise<number>[] = [];
    for (let i = 0; i < 6; i++) {
      reads.push(etcd.latest.get());
      await etcd.endTwoIterations();
      await etcd.clock.move(OVERTAKE_MS);
      await etcd.endTwoIterations();
    }
    assert.equal(etcd.questions.length, 4);
    etcd.questions[3]?.answer(7);
    assert.deepEqual(await Promise.all(reads.slice(0, 4)), [7, 7, 7, 7]);
    await etcd.clock.move(OVERTAKE_MS);
    etcd.questions[4]?.answer(8);
    assert.deepEqual(await Promise.all(reads.slice(4)), [8, 8]);
  });

  it('is an error for the reads whose question fails, and for no others', async () => {
    const etcd = new Etcd();
    const first = etcd.latest.get();
    await etcd.endTwoIterations();
    const second = etcd.latest.get();
    etcd.questions[0]?.fail();
    await assert.rejects(first, /unavailable/);
    await etcd.endTwoIterations();
    etcd.questions[1]?.answer(2);
    assert.equal(await second, 2);
  });

  it('is never older than the read, whatever is answered in whichever order', async () => {
    const step = fc.record({
      act: fc.constantFrom(
        'read',
        'read',
        'write',
        'foreign write',
        'apply',
        'apply',
        'answer',
        'answer',
        'fail',
        'end',
      ),
      which: fc.nat(7),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80 }), async (steps) => {
        await new World().play(steps);
      }),
    );
  });
});

interface Request {
  readonly departure: Departure;
  readonly isWrite: boolean;
  readonly settle: () => void;
  left: boolean;
  revision: number | undefined;
}

/** A store that others write to as well: requests are carried out after they have left, and answered after that. */
class World {
  #revision = 1;
  #requests: Request[] = [];
  #ends: (() => void)[] = [];
  readonly #reads: Promise<void>[] = [];
  readonly #latest: LatestRevision = new LatestRevision({
    clock: new ManualClock(),
    atIterationEnd: (run) => void this.#ends.push(run),
    ask: () => new Promise<void>((resolve) => this.#send(false, resolve)),
  });

  async play(steps: readonly { readonly act: string; readonly which: number }[]): Promise<void> {
    for (const { act, which } of steps) await this.#do(act, which);
    // In the end everything is answered, and no read is left over.
    while (this.#requests.length + this.#ends.length > 0)
      for (const act of ['end', 'apply', 'answer']) await this.#do(act, 0);
    await Promise.all(this.#reads);
  }

  async #do(act: string, which: number): Promise<void> {
    if (act === 'read') this.#read();
    else if (act === 'write') this.#send(true, () => undefined);
    else if (act === 'foreign write') this.#revision++;
    else if (act === 'apply') this.#apply(which);
    else if (act === 'end') await this.#endIteration();
    else this.#answer(which, act === 'fail');
    for (let i = 0; i < 4; i++) await Promise.resolve();
  }

  #read(): void {
    const since = this.#revision;
    const read = this.#latest.get().then((revision) => assert.ok(revision >= since, `${revision} is before ${since}`));
    this.#reads.push(read);
  }

  #send(isWrite: boolean, settle: () => void): void {
    this.#requests.push({ departure: this.#latest.leaves(), isWrite, settle, left: false, revision: undefined });
  }

  async #endIteration(): Promise<void> {
    for (const run of this.#ends.splice(0)) run();
    for (const request of this.#requests) request.left = true;
  }

  #apply(which: number): void {
    const waiting = this.#requests.filter(({ left, revision }) => left && revision === undefined);
    const request = waiting[which % Math.max(1, waiting.length)];
    if (request !== undefined) request.revision = request.isWrite ? ++this.#revision : this.#revision;
  }

  #answer(which: number, fails: boolean): void {
    const done = this.#requests.filter((request) => request.revision !== undefined && (!fails || request.isWrite));
    const request = done[which % Math.max(1, done.length)];
    if (request?.revision === undefined) return;
    this.#requests = this.#requests.filter((other) => other !== request);
    if (fails) this.#latest.failed(request.departure);
    else this.#latest.answered(request.departure, request.revision);
    request.settle();
  }
}
