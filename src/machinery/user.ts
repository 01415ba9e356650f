/** Who makes a request, once authenticated. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: UserExtra;
}

/** What else is known of somebody. A webhook may send null in place of a list, and it is passed on as such. */
export type UserExtra = Readonly<Record<string, readonly string[] | null>>;

/** As maps are encoded: in the order of their keys. */
export const sortedExtra = (extra: UserExtra): Record<string, string[] | null> =>
  Object.fromEntries(
    Object.keys(extra)
      .toSorted()
      .map((key) => [key, extra[key]?.slice() ?? null]),
  );

export const ANONYMOUS_USER = 'system:anonymous';
export const UNAUTHENTICATED_GROUP = 'system:unauthenticated';
export const AUTHENTICATED_GROUP = 'system:authenticated';
export const MASTERS_GROUP = 'system:masters';
export const MONITORING_GROUP = 'system:monitoring';
