import type { CelType } from '../type.js';

/** A type as kube-apiserver's Go code prints it, which is not how the checker prints it in mistakes. */
export function typeName(type: CelType): string {
  const name = type.nullable ? `wrapper(${type.name})` : type.name;
  return type.parameters.length === 0 ? name : `${name}(${type.parameters.map(typeName).join(', ')})`;
}
