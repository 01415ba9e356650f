// How many watches a write concerns, by what they watch: a resource, a namespace of it, or one object.
//
//   pods ─▶ core group, 3 ─▶ kube-system, 1 ─▶ dns, 1      three watch all pods, one those of a namespace, one this pod
import type { RequestInfo } from '../machinery/request-info.js';

class Watched {
  count = 0;
  within: Map<string, Watched> | undefined = undefined;

  constructor(
    private readonly name = '',
    private readonly outer?: Watched,
  ) {}

  in(name: string): Watched {
    const within = (this.within ??= new Map<string, Watched>());
    let found = within.get(name);
    if (found === undefined) within.set(name, (found = new Watched(name, this)));
    return found;
  }

  /** Nothing is kept of what nobody watches. */
  forgetUnwatched(): void {
    if (this.count > 0 || (this.within !== undefined && this.within.size > 0)) return;
    this.outer?.within?.delete(this.name);
    this.outer?.forgetUnwatched();
  }
}

export class WatchCount {
  readonly #all = new Watched();

  /** `narrowed`: the watch is for a few objects that an index finds, such as the pods of one node. The answer ends it. */
  add({ apiGroup, resource, namespace, name }: RequestInfo, narrowed: boolean): () => void {
    if (narrowed) return () => undefined;
    const whole = this.#all.in(resource).in(apiGroup);
    const watched = name !== '' ? whole.in(namespace).in(name) : namespace !== '' ? whole.in(namespace) : whole;
    watched.count++;
    return () => {
      watched.count--;
      watched.forgetUnwatched();
    };
  }

  // hot: every write
  concernedBy({ apiGroup, resource, namespace, name }: RequestInfo): number {
    const whole = this.#all.within?.get(resource)?.within?.get(apiGroup);
    const inNamespace = whole?.within?.get(namespace);
    const one = inNamespace?.within?.get(name);
    return (whole?.count ?? 0) + (inNamespace?.count ?? 0) + (one?.count ?? 0);
  }
}
