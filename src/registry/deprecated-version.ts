import type { KindVersion } from './kind.js';

export interface Deprecation {
  readonly in: string;
  readonly removedIn?: string;
  /** Version and kind to use instead. */
  readonly use?: string;
}

/** What a deprecated version of a kind says of itself; `what` is the version and the kind. */
export const deprecated = (
  what: string,
  { in: since, removedIn, use }: Deprecation,
): Pick<KindVersion, 'deprecationWarning' | 'removedRelease'> => ({
  deprecationWarning: [
    `${what} is deprecated in v${since}+`,
    removedIn === undefined ? '' : `, unavailable in v${removedIn}+`,
    use === undefined ? '' : `; use ${use}`,
  ].join(''),
  ...(removedIn !== undefined && { removedRelease: removedIn }),
});
