// The JSON inside schemas, which kube-apiserver keeps with its members by name.
import { append } from '../../lib/values/append.js';
import { isPlainObject, setMember } from '../../lib/values/plain-object.js';
import type { CustomResourceDefinitionSpec, JSONSchemaProps } from '../../schema/generated/apiextensions.v1.js';
import { schemasOf, subschemas } from './schema-walk.js';

/** Sorts the members of defaults, examples and what enums allow, in place. */
export function sortValues(spec: Readonly<CustomResourceDefinitionSpec>): void {
  const open: JSONSchemaProps[] = schemasOf(spec);
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    for (const member of ['default', 'example', 'enum'] as const) {
      if (typeof schema[member] === 'object') sortWithin(schema as Record<string, unknown>, member);
    }
    append(open, subschemas(schema));
  }
}

type Place = readonly [holder: Record<string, unknown>, name: string];

/** Not by recursion: a value may be deeper than the stack. */
function sortWithin(holder: Record<string, unknown>, name: string): void {
  const open: Place[] = [[holder, name]];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const [outer, at] = place;
    const value = outer[at];
    if (Array.isArray(value)) {
      for (const i of value.keys()) open.push([value as unknown as Record<string, unknown>, String(i)]);
    } else if (isPlainObject(value)) {
      const names = Object.keys(value).sort();
      const sorted = Object.fromEntries(names.map((member) => [member, value[member]]));
      setMember(outer, at, sorted);
      for (const member of names) open.push([sorted, member]);
    }
  }
}
