// Which resource is encrypted by which entry of the configuration: its own name first, then its group's, then all's.
import { goQuote } from '../lib/go/quote.js';
import type { GroupResource } from '../machinery/status.js';
import type { EncryptionEntry } from './configuration.js';

const ANY = '*';

/** The part before the first dot, and after it. */
export function parseResource(text: string): GroupResource {
  const dot = text.indexOf('.');
  return dot < 0 ? { resource: text, group: '' } : { resource: text.slice(0, dot), group: text.slice(dot + 1) };
}

/** The name of a rule as a configuration writes it. */
const ruleName = ({ group, resource }: GroupResource): string => {
  if (group !== '') return `${resource}.${group}`;
  return resource === ANY ? '*.' : resource;
};

/** What is wrong with rules that can never be met, since one before them has all they name. */
export function maskedRule(entries: readonly EncryptionEntry[]): string | undefined {
  const earlier = new Set<string>();
  for (const { resources } of entries) {
    for (const text of resources) {
      const rule = parseResource(text);
      for (const any of [
        { group: rule.group, resource: ANY },
        { group: ANY, resource: ANY },
      ]) {
        if (!earlier.has(ruleName(any))) continue;
        return `resource ${goQuote(ruleName(rule))} is masked by earlier rule ${goQuote(ruleName(any))}`;
      }
      earlier.add(ruleName(rule));
    }
  }
  return undefined;
}

/** Values by rule; entries that name one rule twice form one list. */
export class ResourceRules<T> {
  readonly #rules = new Map<string, T[]>();

  add(resources: readonly string[], values: readonly T[]): void {
    for (const text of resources) {
      const name = ruleName(parseResource(text));
      this.#rules.set(name, [...(this.#rules.get(name) ?? []), ...values]);
    }
  }

  find({ group, resource }: GroupResource): readonly T[] | undefined {
    return (
      this.#rules.get(ruleName({ group, resource })) ??
      this.#rules.get(ruleName({ group, resource: ANY })) ??
      this.#rules.get(ruleName({ group: ANY, resource: ANY }))
    );
  }
}
