import { defineTopic, MINUTE_MS } from '../flag-table.js';

export const generic = defineTopic({
  key: 'generic',
  title: 'generic',
  flags: {
    'advertise-address': {
      type: 'ip',
      help: 'The address other members of the cluster reach this server at. Without it the --bind-address is advertised, and where that names no interface, the address of the default one.',
    },
    'cors-allowed-origins': {
      type: 'strings',
      help: "Origins that browsers may call from, as regular expressions. Each must be held to the whole host name: with '^' or '//' in front and '$' or ':' behind, as in '//example\\.com(:|$)'. An empty list turns CORS off.",
    },
    'emulated-version': {
      type: 'strings',
      help: "The release whose APIs and features to behave like, as 'major.minor' or 'kube=major.minor'. From three releases back up to this server's own.",
    },
    'emulation-forward-compatible': {
      type: 'bool',
      help: 'With an older --emulated-version: also serve the newer, more stable versions of those APIs that are enabled at beta or above.',
    },
    'external-hostname': {
      type: 'string',
      help: 'The host name in the addresses this server publishes, as in API documents and service-account discovery.',
    },
    'feature-gates': {
      type: 'byComponent',
      help: "Features to turn on or off, as 'Name=true' or 'kube:Name=false'. AllAlpha and AllBeta stand for every gate of that stage that is not named itself. May be repeated.",
    },
    'goaway-chance': {
      type: 'float',
      help: 'The share of HTTP/2 requests after which the client gets GOAWAY, so that clients spread over the servers behind a load balancer. 0 is off, 0.02 the most, 0.001 a good start. Not for a single server.',
    },
    'livez-grace-period': {
      type: 'duration',
      help: 'How long start-up may take: until then /livez counts unfinished start hooks as healthy.',
    },
    'max-mutating-requests-inflight': {
      type: 'int',
      default: 200,
      help: 'Writing requests served at a time. With API Priority and Fairness it is added to --max-requests-inflight for one limit over all; without, it is a limit of its own and 0 lifts it.',
    },
    'max-requests-inflight': {
      type: 'int',
      default: 400,
      help: 'Reading requests served at a time. With API Priority and Fairness it is added to --max-mutating-requests-inflight for one limit over all; without, it is a limit of its own and 0 lifts it.',
    },
    'min-request-timeout': {
      type: 'int',
      default: 1800,
      help: 'The least number of seconds a watch stays open; each gets a random time above it.',
    },
    'request-timeout': {
      type: 'duration',
      default: MINUTE_MS,
      help: 'How long a request may take, unless its kind has a rule of its own.',
    },
    'runtime-config-emulation-forward-compatible': {
      type: 'bool',
      help: 'With an older --emulated-version: serve what --runtime-config names even when it came after that release, instead of refusing to start.',
    },
    'shutdown-delay-duration': {
      type: 'duration',
      help: 'How long to keep serving after the signal to stop, with /readyz failing already, so that load balancers stop sending requests first.',
    },
    'shutdown-send-retry-after': {
      type: 'bool',
      help: "While running requests finish at shutdown, keep listening and answer new ones with 429, 'Retry-After' and 'Connection: close'.",
    },
    'shutdown-watch-termination-grace-period': {
      type: 'duration',
      help: 'How long open watches may take to end at shutdown.',
    },
    'storage-initialization-timeout': {
      type: 'duration',
      default: MINUTE_MS,
      help: 'How long to wait for the watch caches to fill before reporting ready without them. Needs the WatchCacheInitializationPostStartHook feature gate, which is off by default; without it caches fill when they are first read.',
    },
    'strict-transport-security-directives': {
      type: 'strings',
      help: "Directives of the Strict-Transport-Security header, such as 'max-age=31536000,includeSubDomains,preload'. None: no header.",
    },
  },
});
