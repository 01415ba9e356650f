// What an egress configuration must be, all that is wrong with it at once.
import fs from 'node:fs';
import {
  duplicate,
  type FieldErrors,
  FieldPath,
  invalid,
  notSupported,
  required,
  plainNotSupported,
} from '../../machinery/field-error.js';
import type {
  Connection,
  EgressSelectorConfiguration,
  TCPTransport,
  TLSConfig,
  Transport,
  UDSTransport,
} from '../../schema/generated/apiserver.v1beta1.js';

const NAMES = ['cluster', 'controlplane', 'etcd'];
const PROTOCOLS = ['Direct', 'HTTPConnect', 'GRPC'];
/** kube-apiserver names every selection by the same path. */
const PATH = FieldPath.of('service', 'connection');

export function validateEgress({ egressSelections }: EgressSelectorConfiguration): FieldErrors {
  const selections = egressSelections ?? [];
  const errors = selections.flatMap(({ connection }) => connectionErrors(connection));
  const seen = new Set<string>();
  for (const [index, { name }] of selections.entries()) {
    if (seen.has(name)) errors.push(duplicate(PATH.index(index), name));
    else if (!NAMES.includes(name)) errors.push(plainNotSupported(PATH, name, NAMES));
    seen.add(name);
  }
  return errors;
}

function connectionErrors({ proxyProtocol = '', transport }: Connection): FieldErrors {
  switch (proxyProtocol) {
    case 'Direct':
      return transport == null
        ? []
        : [invalid(PATH.child('transport'), 'direct', 'config must be absent for direct connect')];
    case 'HTTPConnect':
      return httpConnectErrors(transport);
    case 'GRPC':
      return grpcErrors(transport);
    default:
      return [notSupported(PATH.child('protocol'), proxyProtocol, PROTOCOLS)];
  }
}

function httpConnectErrors(transport: Transport | null | undefined): FieldErrors {
  if (transport == null) return [required(PATH.child('transport'), 'transport must be set for HTTPConnect')];
  const { tcp, uds } = transport;
  if (tcp != null && uds != null)
    return [invalid(PATH.child('tcp'), internalForm(tcp), 'TCP and UDS cannot both be set')];
  if (tcp != null) return tcpErrors(tcp);
  if (uds != null) return udsErrors(uds);
  return [required(PATH.child('tcp'), 'One of TCP or UDS must be set')];
}

/** As kube-apiserver shows its internal form of a TCP transport. */
function internalForm({ url = '', tlsConfig }: TCPTransport): unknown {
  const { caBundle = '', clientKey = '', clientCert = '' } = tlsConfig ?? {};
  const tls = tlsConfig == null ? null : { CABundle: caBundle, ClientKey: clientKey, ClientCert: clientCert };
  return { URL: url, TLSConfig: tls };
}

function grpcErrors(transport: Transport | null | undefined): FieldErrors {
  if (transport == null) return [required(PATH.child('transport'), 'transport must be set for GRPC')];
  if (transport.uds == null) return [required(PATH.child('uds'), 'UDS must be set with GRPC')];
  return udsErrors(transport.uds);
}

const udsErrors = ({ udsName = '' }: UDSTransport): FieldErrors =>
  udsName === '' ? [invalid(PATH.child('udsName'), 'nil', 'must be present for UDS connections')] : [];

function tcpErrors({ url = '', tlsConfig }: TCPTransport): FieldErrors {
  if (url.startsWith('https://')) return tlsErrors(tlsConfig);
  if (!url.startsWith('http://')) {
    return [invalid(PATH.child('url'), url, 'supported connection protocols are http:// and https://')];
  }
  return tlsConfig == null
    ? []
    : [invalid(PATH.child('tlsConfig'), 'nil', 'config must not be present when using HTTP')];
}

function tlsErrors(config: TLSConfig | null | undefined): FieldErrors {
  const path = PATH.child('tlsConfig');
  if (config == null) return [required(path, 'TLSConfig must be present when using HTTPS')];
  const { caBundle = '', clientCert = '', clientKey = '' } = config;
  const errors: FieldErrors = [];
  const check = (field: string, file: string, missing: string | undefined, absent: string): void => {
    if (file === '') {
      if (missing !== undefined) errors.push(invalid(path.child(field), 'nil', missing));
    } else if (!fs.existsSync(file)) errors.push(invalid(path.child(field), file, absent));
  };
  check('caBundle', caBundle, undefined, 'TLS config ca bundle does not exist');
  check('clientCert', clientCert, 'Using TLS requires clientCert', 'TLS client cert does not exist');
  check('clientKey', clientKey, 'Using TLS requires requires clientKey', 'TLS client key does not exist');
  return errors;
}
