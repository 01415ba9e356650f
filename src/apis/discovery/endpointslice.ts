import { append } from '../../lib/values/append.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { FieldPath } from '../../machinery/field-error.js';
import { warningsForIp } from '../../machinery/validation/ip.js';
import { isDns1123Subdomain } from '../../machinery/validation/names.js';
import { dropGatedFields, gated } from '../../registry/gated-fields.js';
import type { KindDefinition } from '../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, firstFewCell, NAME_COLUMN } from '../../registry/columns.js';
import type { EndpointSlice } from '../../schema/generated/discovery.v1.js';
import { validateEndpointSlice, validateEndpointSliceUpdate } from './validation.js';

const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const CONTROLLERS = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];
const HOSTNAME = 'kubernetes.io/hostname';

export const endpointSlices: KindDefinition<EndpointSlice> = {
  group: 'discovery.k8s.io',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  singular: 'endpointslice',
  namespaced: true,
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    hasGeneration: true,
    prepareForCreate: (object, { features }) => {
      dropGatedFields(GATED, object, undefined, features);
      dropTopology(object);
    },
    prepareForUpdate: (object, old, { features }) => {
      // The labels say which service the endpoints are of, so their change is a change of the slice.
      const raised = (object.metadata.generation ?? 0) > (old.metadata.generation ?? 0);
      if (!raised && !deepEqual(object.metadata.labels ?? {}, old.metadata.labels ?? {})) {
        object.metadata.generation = (old.metadata.generation ?? 0) + 1;
      }
      dropGatedFields(GATED, object, old, features);
      if (!deepEqual(object.endpoints, old.endpoints)) dropTopology(object, old);
    },
    validate: (object, { features }) => validateEndpointSlice(object, features),
    validateUpdate: (object, old, { features }, { whole }) => [
      ...whole,
      ...validateEndpointSliceUpdate(object, old, features),
    ],
    warningsOnCreate: (object) => [
      ...(object.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
      ...addressWarnings(object),
    ],
    warningsOnUpdate: addressWarnings,
    canonicalize: (object) => {
      if (object.endpoints?.length === 0) object.endpoints = null;
      if (object.ports?.length === 0) object.ports = null;
    },
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('AddressType', 'What its addresses are.'),
      column('Ports', 'The ports of every endpoint.'),
      column('Endpoints', 'The first addresses.'),
      AGE_COLUMN,
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      object.addressType,
      firstFewCell((object.ports ?? []).map(({ port, name }) => (port === undefined ? (name ?? '*') : String(port)))),
      firstFewCell((object.endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
      ageCell(object, now),
    ],
  },
};

function setDefaults({ ports }: EndpointSlice): void {
  for (const port of ports ?? []) {
    port.name ??= '';
    port.protocol ??= 'TCP';
  }
}

const GATED = [
  gated<EndpointSlice>('TopologyAwareHints', 'endpoints[].hints'),
  gated<EndpointSlice>('PreferSameTrafficDistribution', 'endpoints[].hints.forNodes'),
];

/** The topology of older slices is gone from this version; a node's name in it is carried over. */
function dropTopology(object: EndpointSlice, old?: Readonly<EndpointSlice>): void {
  const sent = (object.endpoints ?? []).filter(({ deprecatedTopology }) => deprecatedTopology !== undefined);
  if (sent.length === 0) return;
  const known = new Set((old?.endpoints ?? []).map(({ deprecatedTopology }) => deprecatedTopology?.[HOSTNAME] ?? ''));
  for (const endpoint of sent) {
    const name = endpoint.deprecatedTopology?.[HOSTNAME];
    const carried = name !== undefined && name !== '' && known.has(name) && isDns1123Subdomain(name).length === 0;
    if (carried) endpoint.nodeName ??= name;
    delete endpoint.deprecatedTopology;
  }
}

function addressWarnings({ metadata, endpoints }: Readonly<EndpointSlice>): string[] {
  if (CONTROLLERS.includes(metadata.labels?.[MANAGED_BY] ?? '')) return [];
  const warnings: string[] = [];
  for (const [position, { addresses }] of (endpoints ?? []).entries()) {
    const path = FieldPath.of('endpoints').index(position).child('addresses');
    for (const [at, address] of (addresses ?? []).entries()) append(warnings, warningsForIp(path.index(at), address));
  }
  return warnings;
}
