// Errors of a definition name its members where an older version of the API had them: what all versions say alike
// stands once at the top (`spec.validation`), and only what differs stands with its version.
import { deepEqual } from '../../lib/values/deep-equal.js';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  CustomResourceValidation,
  SelectableField,
} from '../../schema/generated/apiextensions.v1.js';

export interface HoistedSpec {
  readonly validation?: CustomResourceValidation;
  readonly subresources?: CustomResourceSubresources;
  readonly additionalPrinterColumns?: CustomResourceColumnDefinition[];
  readonly selectableFields?: SelectableField[];
  /** Without the members that stand above. */
  readonly versions: readonly CustomResourceDefinitionVersion[];
}

const MEMBERS = [
  ['schema', 'validation'],
  ['subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
  ['selectableFields', 'selectableFields'],
] as const;

export function hoist(spec: Readonly<CustomResourceDefinitionSpec>): HoistedSpec {
  const all = spec.versions ?? [];
  const hoisted: Record<string, unknown> = {};
  const versions = all.map((version) => ({ ...version }));
  const [first] = all;
  for (const [member, name] of first === undefined ? [] : MEMBERS) {
    if (!all.every((version) => deepEqual(version[member], first?.[member]))) continue;
    if (first?.[member] !== undefined) hoisted[name] = first[member];
    for (const version of versions) delete version[member];
  }
  return { ...hoisted, versions };
}
