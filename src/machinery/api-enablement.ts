// Which built-in APIs are served, as --runtime-config says: wide settings first, the narrower one wins.

/** `apps/v1=true`, `api/beta=false` …: the settings by key. The core group's version is `/v1`. */
export type RuntimeConfig = Readonly<Record<string, string>>;

export interface ApiEnablement {
  /** Whether a version is served as such; `byDefault` decides when no setting speaks of it. */
  version(group: string, version: string, byDefault: boolean): boolean;
  /** Whether a resource of it is served; a setting for the resource wins over its version. */
  resource(group: string, version: string, resource: string, byDefault: boolean): boolean;
  /** Whether a setting names exactly this version or one of its resources, and turns it on. */
  namedOn(group: string, version: string): boolean;
}

/** The keys that stand for many versions, from the widest to those that win over it. */
export const VERSION_CLASSES: Readonly<Record<string, (version: string) => boolean>> = {
  'api/all': () => true,
  'api/ga': (version) => /^v\d+$/.test(version),
  'api/beta': (version) => /^v\d+beta\d+$/.test(version),
  'api/alpha': (version) => /^v\d+alpha\d+$/.test(version),
};

/** The settings must have been validated; an empty value means on. */
export function apiEnablement(config: RuntimeConfig): ApiEnablement {
  const setting = (key: string): boolean | undefined => {
    const value = config[key];
    return value === undefined ? undefined : value === '' || ON.has(value);
  };
  const version = (group: string, name: string, byDefault: boolean): boolean => {
    let on = byDefault;
    for (const [key, matches] of Object.entries(VERSION_CLASSES)) if (matches(name)) on = setting(key) ?? on;
    return setting(`${group}/${name}`) ?? on;
  };
  return {
    version,
    resource: (group, name, resource, byDefault) =>
      setting(`${group}/${name}/${resource}`) ?? version(group, name, byDefault),
    namedOn: (group, name) =>
      Object.keys(config).some(
        (key) => (key === `${group}/${name}` || key.startsWith(`${group}/${name}/`)) && setting(key) === true,
      ),
  };
}

const ON = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
