import { PLATFORM } from '../../machinery/names.js';
import { defineTopic } from '../flag-table.js';

export const secureServing = defineTopic({
  key: 'secureServing',
  title: 'secure serving',
  flags: {
    'bind-address': {
      type: 'ip',
      default: '0.0.0.0',
      help: 'The address to listen on. 0.0.0.0 and :: mean every interface, IPv4 and IPv6.',
    },
    'cert-dir': {
      type: 'string',
      default: `/var/run/${PLATFORM}`,
      help: 'Where a generated serving certificate is kept. Not used when --tls-cert-file and --tls-private-key-file are given.',
    },
    'disable-http2-serving': { type: 'bool', help: 'Serve HTTP/1.1 only.' },
    'http2-max-streams-per-connection': {
      type: 'int',
      help: 'How many requests a client may have open on one HTTP/2 connection; 0 for the default.',
    },
    'permit-address-sharing': {
      type: 'bool',
      help: 'Listen with SO_REUSEADDR: a wildcard and a single address may be bound side by side, and a port is free again at once. Node does so always, also without the flag.',
    },
    'permit-port-sharing': {
      type: 'bool',
      help: 'Listen with SO_REUSEPORT: several servers may share one address and port. Needs Node 22.12; with an older one the log says that it is ignored.',
    },
    'secure-port': { type: 'int', default: 6443, help: 'The port for HTTPS. It cannot be turned off.' },
    'tls-cert-file': {
      type: 'string',
      help: 'The file with the serving certificate, followed by its CA certificates. Without it and --tls-private-key-file a certificate is generated.',
    },
    'tls-cipher-suites': {
      type: 'strings',
      help: 'The cipher suites to offer, by their IANA names; the default ones when empty.',
    },
    'tls-min-version': {
      type: 'string',
      help: 'The oldest TLS version to accept: VersionTLS10, VersionTLS11, VersionTLS12 (the default) or VersionTLS13.',
    },
    'tls-private-key-file': { type: 'string', help: 'The file with the key of --tls-cert-file.' },
    'tls-sni-cert-key': {
      type: 'namedCertificates',
      help: "A further certificate, by SNI, for certain server names: 'foo.crt,foo.key' or 'foo.crt,foo.key:*.foo.com,foo.com'. Without names the certificate's own are used. Exact names go before wildcards, given names before the certificate's own. May be repeated.",
    },
  },
});
