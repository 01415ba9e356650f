// Addresses of pods: none is given to two pods that are there.
import type { Pod } from '../../schema/generated/core.v1.js';

/** 10.244.0.0/16, as many clusters have it. */
const NETWORK = '10.244';
const HOSTS = 2 ** 16;
const FIRST = 2;

export class PodAddresses {
  readonly #used = new Map<string, string>();
  #last = FIRST - 1;

  /** A pod that has its address already keeps it. */
  hold({ metadata, status, spec }: Readonly<Pod>): void {
    if (status.podIP !== undefined && spec.hostNetwork !== true) this.#used.set(status.podIP, metadata.uid ?? '');
  }

  release({ status }: Readonly<Pod>): void {
    if (status.podIP !== undefined) this.#used.delete(status.podIP);
  }

  next(uid: string): string {
    for (let tried = 0; tried < HOSTS; tried++) {
      this.#last = this.#last + 1 < HOSTS ? this.#last + 1 : FIRST;
      const address = `${NETWORK}.${this.#last >> 8}.${this.#last & 255}`;
      if (this.#used.has(address)) continue;
      this.#used.set(address, uid);
      return address;
    }
    throw new Error('all addresses of pods are in use');
  }
}
