import { buildStamp } from './build-stamp.js';
import { GIT_VERSION, RELEASE } from './names.js';
import type { MinorVersion } from './kube-version.js';

/** The fields of `/version` and `--version=raw`, in their order. */
export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly emulationMajor?: string;
  readonly emulationMinor?: string;
  readonly minCompatibilityMajor?: string;
  readonly minCompatibilityMinor?: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** `goVersion` names the runtime that really runs this server. */
export function versionInfo(gitVersion: string = GIT_VERSION): VersionInfo {
  return {
    major: String(RELEASE.major),
    minor: String(RELEASE.minor),
    gitVersion,
    gitCommit: buildStamp.commit,
    gitTreeState: buildStamp.treeState,
    buildDate: buildStamp.date,
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform: `${process.platform}/${ARCHITECTURES[process.arch] ?? process.arch}`,
  };
}

/** versionInfo() with the versions this server emulates and stays compatible with. */
export function emulatedVersionInfo(
  gitVersion: string,
  emulated: MinorVersion,
  minCompatible: MinorVersion,
): VersionInfo {
  const { major, minor, ...rest } = versionInfo(gitVersion);
  return {
    major,
    minor,
    emulationMajor: String(emulated.major),
    emulationMinor: String(emulated.minor),
    minCompatibilityMajor: String(minCompatible.major),
    minCompatibilityMinor: String(minCompatible.minor),
    ...rest,
  };
}
