import type { CelType } from '../type.js';

/** A type as kube-apiserver's Go code formats it, which is not how the checker formats it in errors. */
export function typeName(type: CelType): string {
  const name = type.nullable ? `wrapper(${type.name})` : type.name;
  return type.parameters.length === 0 ? name : `${name}(${type.parameters.map(typeName).join(', ')})`;
}
