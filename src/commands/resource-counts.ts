// What verify, backup and migrate count objects by.

/** How many there are of each. */
export class ResourceCounts {
  readonly #counts = new Map<string, number>();

  add(key: string): void {
    const resource = resourceOfKey(key);
    this.#counts.set(resource, (this.#counts.get(resource) ?? 0) + 1);
  }

  /** A line for each resource. */
  text(): string {
    return [...this.#counts].map(([resource, count]) => `${String(count).padStart(9)}  ${resource}\n`).join('');
  }
}

/** `/registry/pods/default/web` is one of `/registry/pods`, `/registry/apps.test/things/x` of `/registry/apps.test/things`. */
function resourceOfKey(key: string): string {
  const [, root = '', first = '', second = ''] = key.split('/');
  if (first === '') return key;
  return first.includes('.') && second !== '' ? `/${root}/${first}/${second}` : `/${root}/${first}`;
}
