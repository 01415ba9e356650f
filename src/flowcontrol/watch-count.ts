// How many watches a write concerns, by what they watch: a resource, a namespace of it, or one object.
import type { RequestInfo } from '../machinery/request-info.js';

export class WatchCount {
  readonly #counts = new Map<string, number>();

  /** `narrowed`: the watch is for a few objects that an index finds, such as the pods of one node. The answer ends it. */
  add({ apiGroup, resource, namespace, name }: RequestInfo, narrowed: boolean): () => void {
    if (narrowed) return () => undefined;
    const key = keyOf(apiGroup, resource, namespace, name);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#counts.get(key) ?? 0) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }

  // hot: every write
  concernedBy({ apiGroup, resource, namespace, name }: RequestInfo): number {
    if (this.#counts.size === 0) return 0;
    let sum = this.#counts.get(keyOf(apiGroup, resource, '', '')) ?? 0;
    if (namespace !== '') sum += this.#counts.get(keyOf(apiGroup, resource, namespace, '')) ?? 0;
    if (name !== '') sum += this.#counts.get(keyOf(apiGroup, resource, namespace, name)) ?? 0;
    return sum;
  }
}

const keyOf = (group: string, resource: string, namespace: string, name: string): string =>
  `${group}/${resource}/${namespace}/${name}`;
