// The ways to tell whose a token is beyond the token file and service accounts, in the order they are tried.
import { audienceAgnostic } from '../authn/audience.js';
import type { TokenAuthenticator } from '../authn/authenticator.js';
import { createBootstrapTokenAuthenticator } from '../authn/bootstrap-token.js';
import type { Logger } from '../lib/log.js';
import type { Options } from '../options/options.js';
import type { Resources } from './resources.js';

export interface OtherTokenParts {
  readonly resources: Pick<Resources, 'lookup'>;
  readonly log: Logger;
}

export function buildOtherTokens({ authentication }: Options, parts: OtherTokenParts): readonly TokenAuthenticator[] {
  const { apiAudiences } = authentication;
  const { resources, log } = parts;
  const tokens: TokenAuthenticator[] = [];
  if (authentication.enableBootstrapTokenAuth) {
    const bootstrap = createBootstrapTokenAuthenticator({
      secret: async (name) => resources.lookup.get({ group: '', resource: 'secrets' }, 'kube-system', name),
      nowMs: Date.now,
      log: (secret, why) => log.v(3)?.info('Bootstrap token is not accepted', { secret, why }),
    });
    tokens.push(audienceAgnostic(bootstrap, apiAudiences));
  }
  return tokens;
}
