// Combinations that are allowed but likely not meant.
import { formatDurationMs } from '../machinery/time.js';
import type { Flags } from './topics.js';

const STANDARD_HEADERS = [
  ['requestheader-username-headers', 'requestheaderUsernameHeaders', 'X-Remote-User', 'header'],
  ['requestheader-group-headers', 'requestheaderGroupHeaders', 'X-Remote-Group', 'header'],
  ['requestheader-extra-headers-prefix', 'requestheaderExtraHeadersPrefix', 'X-Remote-Extra-', 'header prefix'],
] as const;
/** The life of a token that old clients may keep, and how long it is extended to. */
const SAFE_TRANSITION_SECONDS = 60 * 60 + 7;
const EXTENDED_LIFE_SECONDS = 24 * 365 * 60 * 60;

export function optionWarnings({ authentication }: Flags): string[] {
  const warnings: string[] = [];
  for (const [flag, field, standard, what] of STANDARD_HEADERS) {
    const names = authentication[field].map((name) => name.toLowerCase());
    if (names.length > 0 && !names.includes(standard.toLowerCase())) {
      warnings.push(
        `--${flag} is set without specifying the standard ${standard} ${what} - API aggregation will not work`,
      );
    }
  }
  const maxMs = authentication.serviceAccountMaxTokenExpirationMs;
  if (authentication.serviceAccountExtendTokenExpiration && maxMs !== 0) {
    const max = formatDurationMs(maxMs);
    const extended = 'service-account-extend-token-expiration is true';
    if (maxMs < SAFE_TRANSITION_SECONDS * 1000) {
      warnings.push(
        `${extended}, in order to correctly trigger safe transition logic, service-account-max-token-expiration must be set longer than ${SAFE_TRANSITION_SECONDS} seconds (currently ${max})`,
      );
    }
    if (maxMs < EXTENDED_LIFE_SECONDS * 1000) {
      warnings.push(
        `${extended}, enabling tokens valid up to ${EXTENDED_LIFE_SECONDS} seconds, which is longer than service-account-max-token-expiration set to ${max}`,
      );
    }
  }
  return warnings;
}
