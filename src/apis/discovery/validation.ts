import { append } from '../../lib/values/append.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { parseIp } from '../../lib/values/ip-address.js';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  invalid,
  notSupported,
  required,
  tooMany,
  named,
} from '../../machinery/field-error.js';
import { invalidEach, isFullyQualifiedDomainName, validateImmutableName } from '../../machinery/validation/fields.js';
import { isValidIp, isValidIpForLegacyField } from '../../machinery/validation/ip.js';
import { validateLabels } from '../../machinery/validation/label-selector.js';
import {
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  isValidLabelValue,
} from '../../machinery/validation/names.js';
import type { FeatureGates } from '../../registry/kind.js';
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from '../../schema/generated/discovery.v1.js';
import { PROTOCOLS, validateEndpointIp } from '../core/shared/endpoint-ip.js';

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_TOPOLOGY_LABELS = 16;
const MAX_HINTS = 8;

/** Endpoints an update leaves as they were need not meet rules younger than they are. */
export function validateEndpointSlice(
  object: Readonly<EndpointSlice>,
  features: FeatureGates,
  old?: Readonly<EndpointSlice>,
): FieldErrors {
  const errors = [...validateAddressType(object.addressType), ...validatePorts(object.ports ?? [])];
  const endpointErrors = validateEndpoints(object, features.enabled('StrictIPCIDRValidation'));
  if (endpointErrors.length === 0) return errors;
  if (old !== undefined && deepEqual(object.endpoints, old.endpoints)) return errors;
  return [...errors, ...endpointErrors];
}

export const validateEndpointSliceUpdate = (
  object: Readonly<EndpointSlice>,
  old: Readonly<EndpointSlice>,
  features: FeatureGates,
): FieldErrors => [
  ...validateEndpointSlice(object, features, old),
  ...validateImmutableName(object.addressType, old.addressType, FieldPath.of('addressType')),
];

function validateAddressType(type: string): FieldErrors {
  const path = FieldPath.of('addressType');
  if (type === '') return [required(path)];
  return ADDRESS_TYPES.includes(type) ? [] : [notSupported(path, type, ADDRESS_TYPES)];
}

function validatePorts(ports: readonly EndpointPort[]): FieldErrors {
  const path = FieldPath.of('ports');
  if (ports.length > MAX_PORTS) return [tooMany(path, ports.length, MAX_PORTS)];
  const errors: FieldErrors = [];
  const seen = new Set<string>();
  for (const [position, port] of ports.entries()) {
    const at = path.index(position);
    const name = port.name ?? '';
    if (name !== '') append(errors, invalidEach(at.child('name'), name, isDns1123Label(name)));
    if (seen.has(name)) errors.push(duplicate(at.child('name'), named(name)));
    seen.add(name);
    if (port.protocol === undefined) errors.push(required(at.child('protocol')));
    else if (!PROTOCOLS.includes(port.protocol)) {
      errors.push(notSupported(at.child('protocol'), port.protocol, PROTOCOLS));
    }
    if (port.appProtocol !== undefined) {
      append(errors, invalidEach(at.child('appProtocol'), port.appProtocol, isQualifiedName(port.appProtocol)));
    }
  }
  return errors;
}

function validateEndpoints({ addressType, endpoints }: Readonly<EndpointSlice>, strict: boolean): FieldErrors {
  const path = FieldPath.of('endpoints');
  const list = endpoints ?? [];
  if (list.length > MAX_ENDPOINTS) return [tooMany(path, list.length, MAX_ENDPOINTS)];
  const errors: FieldErrors = [];
  for (const [position, endpoint] of list.entries()) {
    append(errors, validateEndpoint(endpoint, addressType, path.index(position), strict));
  }
  return errors;
}

function validateEndpoint(endpoint: Readonly<Endpoint>, type: string, path: FieldPath, strict: boolean): FieldErrors {
  const errors: FieldErrors = [];
  const addresses = endpoint.addresses ?? [];
  const at = path.child('addresses');
  if (addresses.length === 0) errors.push(required(at, 'must contain at least 1 address'));
  else if (addresses.length > MAX_ADDRESSES) errors.push(tooMany(at, addresses.length, MAX_ADDRESSES));
  for (const [position, address] of addresses.entries()) {
    append(errors, validateAddress(address, { type, path: at, position, strict }));
  }
  const { nodeName, hostname, deprecatedTopology: topology, hints } = endpoint;
  if (nodeName !== undefined) {
    append(errors, invalidEach(path.child('nodeName'), nodeName, isDns1123Subdomain(nodeName)));
  }
  const topologyPath = path.child('deprecatedTopology');
  const labels = Object.keys(topology ?? {}).length;
  if (labels > MAX_TOPOLOGY_LABELS) errors.push(tooMany(topologyPath, labels, MAX_TOPOLOGY_LABELS));
  append(errors, validateLabels(topology, topologyPath));
  if (hostname !== undefined) append(errors, invalidEach(path.child('hostname'), hostname, isDns1123Label(hostname)));
  if (hints !== undefined) append(errors, validateHints(hints, path.child('hints')));
  return errors;
}

interface AddressCheck {
  readonly type: string;
  readonly path: FieldPath;
  readonly position: number;
  readonly strict: boolean;
}

function validateAddress(address: string, { type, path, position, strict }: AddressCheck): FieldErrors {
  const at = path.index(position);
  if (type === 'FQDN') return isFullyQualifiedDomainName(at, address);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const errors = type === 'IPv4' ? isValidIpForLegacyField(at, address, { strict }) : isValidIp(at, address);
  if (errors.length > 0) return errors;
  const family = parseIp(address)?.family === 4 ? 'IPv4' : 'IPv6';
  if (family !== type) errors.push(invalid(path, address, `must be an ${type} address`));
  append(errors, validateEndpointIp(address, at));
  return errors;
}

function validateHints({ forZones = [], forNodes = [] }: Readonly<EndpointHints>, path: FieldPath): FieldErrors {
  const zones = path.child('forZones');
  if (forZones.length > MAX_HINTS) return [tooMany(zones, forZones.length, MAX_HINTS)];
  const errors = validateHintNames(forZones, zones, isValidLabelValue);
  const nodes = path.child('forNodes');
  if (forNodes.length > MAX_HINTS) return [...errors, tooMany(nodes, forNodes.length, MAX_HINTS)];
  return [...errors, ...validateHintNames(forNodes, nodes, isDns1123Subdomain)];
}

function validateHintNames(
  hints: readonly { name: string }[],
  path: FieldPath,
  rule: (name: string) => string[],
): FieldErrors {
  const seen = new Set<string>();
  return hints.flatMap(({ name }, position) => {
    const at = path.index(position).child('name');
    const errors = seen.has(name) ? [duplicate(at, name)] : [];
    seen.add(name);
    return [...errors, ...invalidEach(at, name, rule(name))];
  });
}
