// Which built-in APIs are served, as --runtime-config and the emulated version say: wide settings first, the narrower
// one wins.
import { isTrueText } from '../lib/go/strconv.js';
import { INTRODUCTIONS, REMOVALS } from './api-introduction.js';
import type { MinorVersion } from './kube-version.js';

/** `apps/v1=true`, `api/beta=false` …: the settings by key. The core group's version is `/v1`. */
export type RuntimeConfig = Readonly<Record<string, string>>;

export interface ApiEnablement {
  /** Whether a version is served as such; `byDefault` decides when no setting speaks of it. */
  version(group: string, version: string, byDefault: boolean): boolean;
  /** Whether a resource of it is served; a setting for the resource wins over its version. */
  resource(group: string, version: string, resource: string, byDefault: boolean): boolean;
}

/** The release to behave like, and how strictly. */
export interface EmulatedApis {
  readonly version: MinorVersion;
  /** --emulation-forward-compatible: what is served in an older, not alpha, version is served in newer ones too. */
  readonly forwardCompatible: boolean;
  /** --runtime-config-emulation-forward-compatible: what a setting names is served whenever it came. */
  readonly namedForwardCompatible: boolean;
}

/** The keys that stand for many versions, from the widest to those that win over it. */
export const VERSION_CLASSES: Readonly<Record<string, (version: string) => boolean>> = {
  'api/all': () => true,
  'api/ga': (version) => /^v\d+$/.test(version),
  'api/beta': (version) => /^v\d+beta\d+$/.test(version),
  'api/alpha': (version) => /^v\d+alpha\d+$/.test(version),
};

/** The settings must have been validated; an empty value means on. Without `emulated`, everything has come already. */
export function apiEnablement(config: RuntimeConfig, emulated?: EmulatedApis): ApiEnablement {
  const setting = (key: string): boolean | undefined => {
    const value = config[key];
    return value === undefined ? undefined : value === '' || isTrueText(value);
  };
  const version = (group: string, name: string, byDefault: boolean): boolean => {
    let on = byDefault;
    for (const [key, matches] of Object.entries(VERSION_CLASSES)) if (matches(name)) on = setting(key) ?? on;
    return setting(`${group}/${name}`) ?? on;
  };
  const resource = (group: string, name: string, plural: string, byDefault: boolean): boolean => {
    const key = `${group}/${name}/${plural}`;
    if (emulated !== undefined && emulated.version.minor >= (REMOVALS[key] ?? Infinity)) return false;
    const on = setting(key) ?? version(group, name, byDefault);
    const introduced = INTRODUCTIONS[key];
    if (emulated === undefined || introduced === undefined || introduced.minor <= emulated.version.minor) return on;
    if (emulated.namedForwardCompatible && (setting(key) ?? setting(`${group}/${name}`)) === true) return true;
    if (!emulated.forwardCompatible || setting(key) === false || setting(`${group}/${name}`) === false) return false;
    return introduced.older.some((older) => resource(group, older, plural, false));
  };
  return { version, resource };
}
