/** Which version this is, and when and from what the bundle was made. The build puts it in; code that runs otherwise has none. */
declare const BUILD_STAMP: BuildStamp | undefined;

export interface BuildStamp {
  /** Binnacle's own, from package.json. */
  readonly version: string;
  /** Empty when the source was not a checkout. */
  readonly commit: string;
  readonly treeState: 'clean' | 'dirty' | '';
  readonly date: string;
}

export const buildStamp: BuildStamp =
  typeof BUILD_STAMP === 'undefined'
    ? { version: '0.0.0', commit: '', treeState: '', date: '1970-01-01T00:00:00Z' }
    : BUILD_STAMP;
