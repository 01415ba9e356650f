// The tables of an open store. All who read and write share this object, so that the store can go on in another file of the same
// content (defragment.ts). Whoever reads for longer than one turn of the event loop holds the file: it is closed when nobody does.
import type { Database, RootDatabase } from 'lmdb';
import type { Tables } from './engine.js';

type Table = Database<Buffer, Buffer>;

export class MovableTables implements Tables {
  env: RootDatabase;
  current: Table;
  log: Table;
  expiries: Table;
  leases: Table;
  leased: Table;
  meta: Table;
  readonly unchecked: Tables['unchecked'];
  #file = new HeldFile();

  constructor({ env, current, log, expiries, leases, leased, meta, unchecked }: Tables) {
    this.env = env;
    this.current = current;
    this.log = log;
    this.expiries = expiries;
    this.leases = leases;
    this.leased = leased;
    this.meta = meta;
    this.unchecked = unchecked;
  }

  /** Answers how to release the file that is open now. */
  hold(): () => void {
    return this.#file.hold();
  }

  /** Fulfilled when the file before is closed. */
  async moveTo({ env, current, log, expiries, leases, leased, meta }: Tables): Promise<void> {
    const before = { env: this.env, file: this.#file };
    Object.assign(this, { env, current, log, expiries, leases, leased, meta });
    this.#file = new HeldFile();
    await before.file.unused();
    await before.env.close();
  }

  async close(): Promise<void> {
    await this.#file.unused();
    await this.env.close();
  }
}

class HeldFile {
  #holders = 0;
  #whenUnused: (() => void) | undefined;

  hold(): () => void {
    this.#holders++;
    return () => {
      this.#holders--;
      if (this.#holders === 0) this.#whenUnused?.();
    };
  }

  async unused(): Promise<void> {
    if (this.#holders > 0) await new Promise<void>((resolve) => (this.#whenUnused = resolve));
  }
}
