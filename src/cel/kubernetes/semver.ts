// Semantic versions.
import {
  type SemanticVersion,
  VersionError,
  compareVersions,
  parseLooseVersion,
  parseVersion,
  versionText,
} from './semantic-version.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, INT, STRING, objectType } from '../type.js';
import { CelError, OpaqueValue, type Value, noSuchOverload, unsupportedConversion } from '../value.js';

const SEMVER = objectType('kubernetes.Semver');

class SemverValue extends OpaqueValue {
  readonly type = SEMVER;
  constructor(readonly version: SemanticVersion) {
    super();
  }
  equal(other: Value): Value {
    return other instanceof SemverValue ? compareVersions(this.version, other.version) === 0 : noSuchOverload();
  }
  override readAgain(): Value {
    return unsupportedConversion(`(semver.Version)${versionText(this.version)}`);
  }
}

const isVersion = (text: string, loose = false): boolean => !(versionOf(text, loose) instanceof CelError);

export const semverLibrary: Library = {
  name: 'kubernetes.Semver',
  functions: [
    {
      name: 'semver',
      overloads: [
        {
          id: 'string_to_semver',
          parameters: [STRING],
          result: SEMVER,
          call: (text: string) => versionOf(text, false),
        },
        { id: 'string_bool_to_semver', parameters: [STRING, BOOL], result: SEMVER, call: versionOf },
      ],
    },
    {
      name: 'isSemver',
      overloads: [
        { id: 'is_semver_string', parameters: [STRING], result: BOOL, call: (text: string) => isVersion(text) },
        { id: 'is_semver_string_bool', parameters: [STRING, BOOL], result: BOOL, call: isVersion },
      ],
    },
    { name: 'isGreaterThan', overloads: [comparing('semver_is_greater_than', (compared) => compared > 0)] },
    { name: 'isLessThan', overloads: [comparing('semver_is_less_than', (compared) => compared < 0)] },
    {
      name: 'compareTo',
      overloads: [{ ...comparing('semver_compare_to', (compared) => BigInt(compared)), result: INT }],
    },
    part('major'),
    part('minor'),
    part('patch'),
  ],
};

function versionOf(text: string, loose: boolean): Value {
  try {
    return new SemverValue(loose ? parseLooseVersion(text) : parseVersion(text));
  } catch (error) {
    if (error instanceof VersionError) return new CelError(error.message);
    throw error;
  }
}

function comparing(id: string, answer: (compared: number) => Value) {
  return {
    id,
    member: true,
    parameters: [SEMVER, SEMVER],
    result: BOOL,
    call: (left: SemverValue, right: SemverValue) => answer(compareVersions(left.version, right.version)),
  };
}

/** A part beyond the 64-bit integers wraps around, as kube-apiserver's conversion does. */
function part(name: 'major' | 'minor' | 'patch'): FunctionDeclaration {
  const call = ({ version }: SemverValue): bigint => BigInt.asIntN(64, version[name]);
  return { name, overloads: [{ id: `semver_${name}`, member: true, parameters: [SEMVER], result: INT, call }] };
}
