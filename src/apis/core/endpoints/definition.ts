import { append } from '../../../lib/values/append.js';
import { FieldPath } from '../../../machinery/field-error.js';
import { warningsForIp } from '../../../machinery/validation/ip.js';
import { deprecated } from '../../../registry/deprecated-version.js';
import type { KindDefinition } from '../../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../registry/columns.js';
import type { Endpoints } from '../../../schema/generated/core.v1.js';
import { validateEndpoints } from './validation.js';

const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const SHOWN_ADDRESSES = 3;

export const endpoints: KindDefinition<Endpoints> = {
  group: '',
  kind: 'Endpoints',
  plural: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  namespaced: true,
  versions: [
    {
      version: 'v1',
      defaults: setDefaults,
      ...deprecated('v1 Endpoints', { in: '1.33', use: 'discovery.k8s.io/v1 EndpointSlice' }),
    },
  ],
  storageVersion: 'v1',
  storage: { keyPrefix: 'services/endpoints' },
  strategy: {
    metadataRules: { placedOnUpdate: true },
    validate: (object) => validateEndpoints(object),
    validateUpdate: (object, old, _context, { whole, change }) => [
      ...change,
      ...whole,
      ...validateEndpoints(object, old),
    ],
    warningsOnCreate: addressWarnings,
    warningsOnUpdate: addressWarnings,
    allowCreateOnUpdate: true,
  },
  table: {
    columns: [NAME_COLUMN, column('Endpoints', 'The first ready addresses, with their ports.'), AGE_COLUMN],
    row: (object, now) => [object.metadata.name ?? '', addressesCell(object), ageCell(object, now)],
  },
};

function setDefaults(object: Endpoints): void {
  for (const subset of object.subsets ?? []) {
    for (const port of subset.ports ?? []) port.protocol ||= 'TCP';
  }
}

/** The endpoints controller writes clean addresses, and many: its objects are not looked through. */
function addressWarnings(object: Readonly<Endpoints>): string[] {
  if (object.metadata.labels?.[MANAGED_BY] === 'endpoint-controller') return [];
  const warnings: string[] = [];
  for (const [position, subset] of (object.subsets ?? []).entries()) {
    for (const member of ['addresses', 'notReadyAddresses'] as const) {
      for (const [at, address] of (subset[member] ?? []).entries()) {
        const path = FieldPath.of('subsets').index(position).child(member).index(at).child('ip');
        append(warnings, warningsForIp(path, address.ip));
      }
    }
  }
  return warnings;
}

function addressesCell({ subsets }: Readonly<Endpoints>): string {
  if (!subsets || subsets.length === 0) return '<none>';
  const shown: string[] = [];
  let all = 0;
  for (const { addresses = [], ports = [] } of subsets) {
    all += addresses.length * Math.max(ports.length, 1);
    const first = addresses.slice(0, SHOWN_ADDRESSES);
    if (ports.length === 0)
      append(
        shown,
        first.map(({ ip }) => ip),
      );
    for (const { port } of ports.slice(0, SHOWN_ADDRESSES))
      append(
        shown,
        first.map(({ ip }) => hostPort(ip, port)),
      );
    if (shown.length > SHOWN_ADDRESSES) shown.length = SHOWN_ADDRESSES;
  }
  return shown.join(',') + (all > SHOWN_ADDRESSES ? ` + ${all - SHOWN_ADDRESSES} more...` : '');
}

const hostPort = (ip: string, port: number): string => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);
