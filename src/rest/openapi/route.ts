// One operation as both forms of OpenAPI have it, before either form's words.
import type { GroupVersion, GroupVersionKind } from '../../machinery/object.js';

export type RouteMethod = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'integer' | 'boolean' | 'number';
  readonly description?: string;
}

export interface Route {
  readonly path: string;
  readonly method: RouteMethod;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description?: string;
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly definition: string; readonly required: boolean };
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
  readonly responses: readonly RouteResponse[];
}

export interface RouteResponse {
  readonly code: number;
  readonly description: string;
  /** The name of a definition; a plain text when empty, nothing when undefined. */
  readonly definition?: string;
}

export const UNAUTHORIZED: RouteResponse = { code: 401, description: 'Unauthorized' };

/** What an operation's name and tag say of a group version: `RbacAuthorizationV1`, `rbacAuthorization_v1`. */
export function groupWords({ group, version }: Partial<GroupVersion>): { id: string; tag: string } {
  const name = group === undefined || group === '' ? 'core' : group.replace(/\.k8s\.io$/, '');
  const suffix = version === undefined ? '' : identifier(version, true);
  return {
    id: identifier(name, true) + suffix,
    tag: identifier(name, false) + (version === undefined ? '' : `_${identifier(version, false)}`),
  };
}

/** Letters and digits only; what follows anything else begins with a capital. */
function identifier(text: string, capital: boolean): string {
  const joined = text.replace(
    /[^A-Za-z0-9_]+([A-Za-z0-9_])?/g,
    (_, next: string | undefined) => next?.toUpperCase() ?? '',
  );
  return capital ? joined.charAt(0).toUpperCase() + joined.slice(1) : joined;
}
