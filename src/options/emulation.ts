// Feature gates and the emulated version, which decide together: --feature-gates, --emulated-version.
import { errorText } from '../lib/text/error-text.js';
import { parseBool } from '../lib/go/strconv.js';
import { aggregateText } from '../machinery/field-error.js';
import { chooseFeatureGates, type FeatureGates } from '../machinery/feature-gates.js';
import { compareMinorVersions, minorVersionText, parseVersion, type MinorVersion } from '../machinery/kube-version.js';
import { RELEASE } from '../machinery/names.js';

export interface Emulation {
  readonly version: MinorVersion;
  readonly minCompatible: MinorVersion;
  readonly featureGates: FeatureGates;
  readonly warnings: readonly string[];
}

export type EmulationRead =
  | { readonly ok: true; readonly emulation: Emulation }
  | { readonly ok: false; readonly error: string };

const COMPONENT = 'kube';
/** Three releases back is as far as emulation goes. */
const FLOOR: MinorVersion = { major: RELEASE.major, minor: RELEASE.minor - 3 };

export function readEmulation(
  emulatedVersions: readonly string[],
  gatesByComponent: Readonly<Record<string, readonly string[]>>,
): EmulationRead {
  const version = readVersion(emulatedVersions);
  if (typeof version === 'string') return { ok: false, error: version };
  const gates = readGates(gatesByComponent);
  if (typeof gates === 'string') return { ok: false, error: gates };
  const { gates: featureGates, errors, warnings } = chooseFeatureGates(gates, version);
  if (errors.length > 0) return { ok: false, error: aggregateText(errors) };
  const previous = { major: version.major, minor: version.minor - 1 };
  const minCompatible = compareMinorVersions(previous, FLOOR) < 0 ? FLOOR : previous;
  return { ok: true, emulation: { version, minCompatible, featureGates, warnings } };
}

/** Versions outside what can be emulated. */
export function emulationErrors(version: MinorVersion, minCompatible: MinorVersion): string[] {
  const errors: string[] = [];
  const floor = minorVersionText(FLOOR);
  if (compareMinorVersions(version, RELEASE) > 0 || compareMinorVersions(version, FLOOR) < 0) {
    const ceiling = `${RELEASE.major}.${RELEASE.minor}.0`;
    errors.push(`emulation version ${minorVersionText(version)} is not between [${floor}, ${ceiling}]`);
  }
  if (compareMinorVersions(minCompatible, version) > 0) {
    const text = minorVersionText(minCompatible);
    errors.push(`minCompatibilityVersion version ${text} is not between [${floor}, ${minorVersionText(version)}]`);
  }
  return errors;
}

/** The requested version, this release without one, or the error. */
function readVersion(entries: readonly string[]): MinorVersion | string {
  const byComponent = new Map<string, MinorVersion>();
  for (const entry of entries) {
    const equals = entry.indexOf('=');
    const component = equals < 0 ? COMPONENT : entry.slice(0, equals).trim();
    const read = parseVersion(equals < 0 ? entry : entry.slice(equals + 1).trim());
    if (!read.ok) return read.error;
    const text = minorVersionText(read.version);
    if (read.patch !== 0) return `patch version not allowed, got: ${component}=${text}.${read.patch}`;
    const earlier = byComponent.get(component);
    if (earlier !== undefined) {
      return `duplicate version flag, ${component}=${minorVersionText(earlier)} and ${component}=${text}`;
    }
    byComponent.set(component, read.version);
  }
  for (const component of byComponent.keys()) {
    if (component !== COMPONENT) return `component not registered: ${component}`;
  }
  return byComponent.get(COMPONENT) ?? { major: RELEASE.major, minor: RELEASE.minor };
}

function readGates(byComponent: Readonly<Record<string, readonly string[]>>): Map<string, boolean> | string {
  if (byComponent[''] !== undefined && byComponent[COMPONENT] !== undefined) {
    return 'set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use';
  }
  const chosen = new Map<string, boolean>();
  for (const [component, settings] of Object.entries(byComponent)) {
    if (component !== '' && component !== COMPONENT) return `component not registered: ${component}`;
    for (const setting of settings) {
      if (setting === '') continue;
      const equals = setting.indexOf('=');
      if (equals < 0) return `missing bool value for ${setting.trim()}`;
      const name = setting.slice(0, equals).trim();
      const value = setting.slice(equals + 1).trim();
      try {
        chosen.set(name, parseBool(value));
      } catch (error) {
        return `invalid value of ${name}=${value}, err: ${errorText(error)}`;
      }
    }
  }
  return chosen;
}
