// The short names of templates: the same template has the same one. kube-controller-manager hashes how Go prints the
// template, so that its names are other ones.
import type { PodTemplateSpec } from '../schema/generated/core.v1.js';

const CHARACTERS = 'bcdfghjklmnpqrstvwxz2456789';
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** `collisions`: how often a name was taken already. */
export function templateHash(template: unknown, collisions = 0): string {
  const text = JSON.stringify(sorted(template)) + (collisions === 0 ? '' : String(collisions));
  let hash = FNV_OFFSET;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return Array.from(String(hash >>> 0), (digit) => CHARACTERS[digit.charCodeAt(0) % CHARACTERS.length]).join('');
}

/** Members in one order, whoever wrote them. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function withLabel(template: Readonly<PodTemplateSpec>, label: string, value: string): PodTemplateSpec {
  return { ...template, metadata: { ...template.metadata, labels: { ...template.metadata?.labels, [label]: value } } };
}

export function withoutLabel(template: Readonly<PodTemplateSpec>, label: string): PodTemplateSpec {
  const { [label]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}
