import { CelError, CelList, CelMap, typeOf } from '../value.js';
import type { Value } from '../value.js';

const NAMES: Readonly<Record<string, string>> = {
  bool: 'types.Bool',
  int: 'types.Int',
  uint: 'types.Uint',
  double: 'types.Double',
  string: 'types.String',
  bytes: 'types.Bytes',
  null: 'types.Null',
  timestamp: 'types.Timestamp',
  duration: 'types.Duration',
  type: '*types.Type',
};

const LIBRARIES: Readonly<Record<string, string>> = {
  optional_type: '*types.Optional',
  'kubernetes.Quantity': 'cel.Quantity',
  'kubernetes.Semver': 'cel.Semver',
  'kubernetes.URL': 'cel.URL',
  'net.IP': 'cel.IP',
  'net.CIDR': 'cel.CIDR',
};

/** The name of kube-apiserver's Go type, which its error texts show. */
export function goName(value: Value): string {
  if (value instanceof CelError) return '*types.Err';
  if (value instanceof CelList) return '*types.baseList';
  if (value instanceof CelMap) return '*types.baseMap';
  const { kind, name } = typeOf(value);
  return NAMES[kind] ?? LIBRARIES[name] ?? name;
}
