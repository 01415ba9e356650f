import { BOOTSTRAP_TOKEN_SECRET_TYPE } from '../../machinery/names.js';
import { defineTopic, MINUTE_MS } from '../flag-table.js';

export const authentication = defineTopic({
  key: 'authentication',
  title: 'authentication',
  flags: {
    'anonymous-auth': {
      type: 'bool',
      default: true,
      help: 'Serve requests without a credential as the user system:anonymous of the group system:unauthenticated. Off by itself where everything is allowed.',
    },
    'api-audiences': {
      type: 'strings',
      help: 'The audiences of this API: a service-account token must be meant for one of them. The issuers, when not given.',
    },
    'authentication-config': {
      type: 'string',
      help: 'The file (AuthenticationConfiguration) that sets up JWT and anonymous authentication. It takes the place of the --oidc-* flags and, where it configures anonymous requests, of --anonymous-auth.',
    },
    'authentication-token-webhook-cache-ttl': {
      type: 'duration',
      default: 2 * MINUTE_MS,
      help: "How long the token webhook's answers are cached.",
    },
    'authentication-token-webhook-config-file': {
      type: 'string',
      help: 'The kubeconfig file of a webhook that authenticates bearer tokens (TokenReview).',
    },
    'authentication-token-webhook-version': {
      type: 'string',
      default: 'v1beta1',
      help: 'The version of the TokenReview sent to that webhook: v1 or v1beta1.',
    },
    'client-ca-file': {
      type: 'string',
      help: "The CA bundle that client certificates are verified with; the certificate's common name is the user name.",
    },
    'enable-bootstrap-token-auth': {
      type: 'bool',
      help: `Accept the tokens in secrets of type ${BOOTSTRAP_TOKEN_SECRET_TYPE} in kube-system, with which new nodes join.`,
    },
    'oidc-ca-file': {
      type: 'string',
      help: "The CA bundle that the OpenID issuer's certificate is verified with; the system's own by default.",
    },
    'oidc-client-id': {
      type: 'string',
      help: 'The client id tokens must be meant for. Goes with --oidc-issuer-url.',
    },
    'oidc-groups-claim': {
      type: 'string',
      help: "The claim with the user's groups: a text or a list of texts.",
    },
    'oidc-groups-prefix': {
      type: 'string',
      help: 'Put before every group from a token, to keep them apart from others.',
    },
    'oidc-issuer-url': {
      type: 'string',
      help: 'The https address of the OpenID issuer whose tokens are accepted.',
    },
    'oidc-required-claim': {
      type: 'pair',
      help: 'A claim, and its value, that a token must have. May be repeated.',
    },
    'oidc-signing-algs': {
      type: 'strings',
      default: ['RS256'],
      help: 'The signing algorithms accepted: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512.',
    },
    'oidc-username-claim': {
      type: 'string',
      default: 'sub',
      help: "The claim with the user name. Claims other than 'sub' may be neither unique nor lasting.",
    },
    'oidc-username-prefix': {
      type: 'string',
      help: "Put before every user name from a token. When not given, names from claims other than 'email' begin with the issuer's address; '-' for no prefix.",
    },
    'requestheader-allowed-names': {
      type: 'strings',
      help: 'The common names of client certificates of authenticating proxies, which name users in headers; any name when empty.',
    },
    'requestheader-client-ca-file': {
      type: 'string',
      help: 'The CA bundle that client certificates of authenticating proxies are verified with. Do not use a CA that also signs for others.',
    },
    'requestheader-extra-headers-prefix': {
      type: 'strings',
      help: 'How headers with extra user details begin, such as X-Remote-Extra-.',
    },
    'requestheader-group-headers': { type: 'strings', help: "Headers with the user's groups, such as X-Remote-Group." },
    'requestheader-uid-headers': {
      type: 'strings',
      help: "Headers with the user's uid, such as X-Remote-Uid. Needs the RemoteRequestHeaderUID feature.",
    },
    'requestheader-username-headers': { type: 'strings', help: 'Headers with the user name, such as X-Remote-User.' },
    'service-account-extend-token-expiration': {
      type: 'bool',
      default: true,
      help: 'Let tokens that admission puts into pods live up to a year, whatever the maximum, so that old clients that never read them again go on working.',
    },
    'service-account-issuer': {
      type: 'stringArray',
      help: 'The issuer of service-account tokens, best an https address that serves /.well-known/openid-configuration. The first is written into new tokens, tokens of all are accepted. May be repeated.',
    },
    'service-account-jwks-uri': {
      type: 'string',
      help: "The address of the signing keys in the issuer's discovery document, when it is not this server's own. Must be https.",
    },
    'service-account-key-file': {
      type: 'stringArray',
      help: 'A file with PEM keys, RSA or ECDSA, public or private, that service-account tokens are verified with. May be repeated. Needed with --service-account-signing-key-file.',
    },
    'service-account-lookup': {
      type: 'bool',
      default: true,
      help: 'Refuse service-account tokens whose account or secret is gone.',
    },
    'service-account-max-token-expiration': {
      type: 'duration',
      help: 'The longest lifetime of a new service-account token; a longer requested one is shortened to it. Between 1h and 2^32 seconds.',
    },
    'token-auth-file': {
      type: 'string',
      help: 'A file with static bearer tokens: one line each of token, user, uid and, quoted, groups.',
    },
  },
});
