// One issuer: found in the background, retried until it answers, and its tokens judged from then on.
import type { Logger } from '../../lib/telemetry/log.js';
import type { Clock } from '../../lib/async/clock.js';
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { timeoutUnlessAborted } from '../../lib/async/timeout-unless-aborted.js';
import { discoverKeysUrl } from './discovery.js';
import { createIdTokenVerifier, type IdTokenRules, type IdTokenVerifier } from './id-token-verifier.js';
import type { FetchDocument } from './issuer-http.js';
import { createKeySet } from './key-set.js';

export interface Issuer {
  /** Undefined until its discovery document was read. */
  verifier(): IdTokenVerifier | undefined;
  /** Why it cannot be used yet; undefined once it can. */
  health(): string | undefined;
  /** Resolves once it can be used. */
  readonly found: Promise<void>;
}

export interface IssuerOptions {
  readonly rules: IdTokenRules;
  readonly discoveryUrl?: string;
  readonly fetch: FetchDocument;
  readonly clock: Clock;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

const RETRY_MS = 10_000;

export function followIssuer(options: IssuerOptions): Issuer {
  const { rules, fetch, clock, signal } = options;
  let verifier: IdTokenVerifier | undefined;
  let why: string | undefined = `oidc: authenticator for issuer ${goQuote(rules.issuer)} is not initialized`;

  const find = async (): Promise<void> => {
    const place = options.discoveryUrl === undefined ? {} : { discoveryUrl: options.discoveryUrl };
    const url = await discoverKeysUrl({ fetch, issuer: rules.issuer, ...place });
    verifier = createIdTokenVerifier(rules, createKeySet({ url, fetch, nowMs: () => clock.now() }));
    why = undefined;
  };
  const found = new Promise<void>((resolve) => {
    const attempt = (): void => {
      find().then(resolve, (error: unknown) => {
        why = errorText(error);
        options.log.warning(`Could not find the issuer ${rules.issuer}: ${why}`);
        timeoutUnlessAborted(clock, RETRY_MS, signal, attempt);
      });
    };
    attempt();
  });
  return { verifier: () => verifier, health: () => why, found };
}
