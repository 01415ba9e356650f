import { append } from '../../../lib/values/append.js';
import { deepEqual } from '../../../lib/values/deep-equal.js';
import { type FieldErrors, FieldPath, notSupported, required } from '../../../machinery/field-error.js';
import { invalidEach, validatePort } from '../../../machinery/validation/fields.js';
import { isValidIpForLegacyField } from '../../../machinery/validation/ip.js';
import { isDns1123Label, isDns1123Subdomain, isQualifiedName } from '../../../machinery/validation/names.js';
import type { EndpointAddress, EndpointPort, Endpoints, EndpointSubset } from '../../../schema/generated/core.v1.js';
import { PROTOCOLS, validateEndpointIp } from '../shared/endpoint-ip.js';

/** Subsets an update leaves as they were need not meet rules younger than they are. */
export function validateEndpoints(object: Readonly<Endpoints>, old?: Readonly<Endpoints>): FieldErrors {
  const errors = (object.subsets ?? []).flatMap((subset, position) =>
    validateSubset(subset, FieldPath.of('subsets').index(position)),
  );
  return errors.length > 0 && old !== undefined && deepEqual(object.subsets, old.subsets) ? [] : errors;
}

function validateSubset(subset: Readonly<EndpointSubset>, path: FieldPath): FieldErrors {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  const errors: FieldErrors = [];
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    errors.push(required(path, 'must specify `addresses` or `notReadyAddresses`'));
  }
  const validateAll = (list: readonly EndpointAddress[], at: FieldPath): FieldErrors =>
    list.flatMap((address, position) => validateAddress(address, at.index(position)));
  append(
    errors,
    validateAll(addresses, path.child('addresses')),
    validateAll(notReadyAddresses, path.child('notReadyAddresses')),
  );
  for (const [position, port] of ports.entries()) {
    append(errors, validateEndpointPort(port, ports.length > 1, path.child('ports').index(position)));
  }
  return errors;
}

function validateAddress({ ip, hostname, nodeName }: Readonly<EndpointAddress>, path: FieldPath): FieldErrors {
  const errors = isValidIpForLegacyField(path.child('ip'), ip);
  if (hostname) append(errors, invalidEach(path.child('hostname'), hostname, isDns1123Label(hostname)));
  if (nodeName !== undefined) {
    append(errors, invalidEach(path.child('nodeName'), nodeName, isDns1123Subdomain(nodeName)));
  }
  append(errors, validateEndpointIp(ip, path.child('ip')));
  return errors;
}

function validateEndpointPort(port: Readonly<EndpointPort>, requireName: boolean, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (port.name) append(errors, invalidEach(path.child('name'), port.name, isDns1123Label(port.name)));
  else if (requireName) errors.push(required(path.child('name')));
  append(errors, validatePort(port.port, path.child('port')));
  if (!port.protocol) errors.push(required(path.child('protocol')));
  else if (!PROTOCOLS.includes(port.protocol)) {
    errors.push(notSupported(path.child('protocol'), port.protocol, PROTOCOLS));
  }
  if (port.appProtocol !== undefined) {
    append(errors, invalidEach(path.child('appProtocol'), port.appProtocol, isQualifiedName(port.appProtocol)));
  }
  return errors;
}
